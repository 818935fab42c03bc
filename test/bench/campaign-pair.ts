import { createWorld, type World } from '../support/world.ts';
import { revisionOf, submitAndApprove, subscriberOf, type Revision } from '../support/campaign.ts';
import type { Role, ServiceProcess } from '../support/service.ts';
import { pollUntil } from '../support/stack/poll-until.ts';
import { startChild, type BenchChild } from './bench-child.ts';
import type { BenchGround } from './bench-ground.ts';
import { CpuMeter } from './cpu-meter.ts';
import { median, ordered, rounded } from './figures.ts';
import { LedgerWatch } from './ledger-watch.ts';

const DEFAULT_RECIPIENTS = 50_000;
const WARM_UP_RECIPIENTS = 3_000;
const CONNECTIONS = 20;
const DEADLINE_MS = 600_000;
const ROLES: readonly Role[] = ['consumer', 'relay', 'dispatcher', 'maintenance', 'api'];

interface Campaigns {
  readonly world: World;
  readonly watch: LedgerWatch;
  readonly services: ReadonlyMap<Role, ServiceProcess>;
  readonly pool: BenchChild;
  readonly ground: BenchGround;
  readonly recipients: number;
}

/**
 * A campaign through everything (five processes, one per role) to the SMTP sink, and the same number of finished mails of the
 * same size by nodemailer's pool alone to the same sink with as many connections. The sink's clock counts, first to last mail.
 */
export async function campaignPair(ground: BenchGround, runs: number, size: number | null): Promise<object> {
  const campaigns = await start(ground, size ?? DEFAULT_RECIPIENTS);
  await sendCampaign(campaigns, 'warm-up', WARM_UP_RECIPIENTS);
  await sendByPool(campaigns, WARM_UP_RECIPIENTS);
  const rates: { einmal: number[]; pool: number[] } = { einmal: [], pool: [] };
  for (let run = 0; run < runs; run++) {
    for (const side of ordered<'einmal' | 'pool'>(run, 'einmal', 'pool')) {
      const { recipients } = campaigns;
      const rate =
        side === 'pool'
          ? await sendByPool(campaigns, recipients)
          : await sendCampaign(campaigns, `run-${run}`, recipients);
      rates[side].push(rate);
      ground.progress(`campaign: run ${run + 1} of ${runs}, ${side}: ${rounded(rate)} mails a second`);
    }
  }
  const peakMiB = await peaks(campaigns.services);
  await stop(campaigns);
  const [einmal, pool] = [median(rates.einmal), median(rates.pool)];
  return {
    pair: 'campaign',
    recipients: campaigns.recipients,
    runs,
    connections: CONNECTIONS,
    einmalMailsPerSecond: rounded(einmal),
    poolMailsPerSecond: rounded(pool),
    ratio: rounded(einmal / pool, 2),
    peakMiB,
  };
}

async function start(ground: BenchGround, recipients: number): Promise<Campaigns> {
  const world = await createWorld({ ...ground.stack, config: { provider: { connections: CONNECTIONS } } });
  const services = new Map<Role, ServiceProcess>();
  for (const role of ROLES) services.set(role, await world.start([role]));
  for (const service of services.values()) await service.ready();
  const watch = await LedgerWatch.open(world.databaseUrl);
  ground.progress(`campaign: publishing ${recipients} subscribers`);
  const subscribers = Array.from({ length: Math.max(recipients, WARM_UP_RECIPIENTS) }, (_, index) =>
    subscriberOf(index, { lists: listsOf(index, recipients) }),
  );
  await world.peer.publish('einmal.subscriber.upserted.v1', subscribers);
  await watch.reaches('subscribers', subscribers.length, DEADLINE_MS);
  const { host, port } = world.sink;
  const pool = await startChild('pool/pool-process.ts', { host, port, connections: CONNECTIONS });
  return { world, watch, services, pool, ground, recipients };
}

function listsOf(index: number, recipients: number): string[] {
  return [...(index < recipients ? ['news'] : []), ...(index < WARM_UP_RECIPIENTS ? ['warm-up'] : [])];
}

async function sendCampaign(campaigns: Campaigns, campaignId: string, count: number): Promise<number> {
  const { world, watch, services, ground } = campaigns;
  await world.sink.reset();
  const pids = [...services].map(([role, { pid }]): [string, number] => [role, pid]);
  const meter = new CpuMeter({ ...Object.fromEntries(pids), sink: world.sink.pid, ...ground.servers() });
  await submitAndApprove(world, revisionFor(campaignId));
  const rate = await ratePerSecond(world, count);
  await watch.campaignCompletes(campaignId, DEADLINE_MS);
  await watch.reaches('outbox', 0, DEADLINE_MS);
  ground.cpu('campaign', meter.sinceStart(), count);
  return rate;
}

async function sendByPool({ world, pool, ground }: Campaigns, count: number): Promise<number> {
  await world.sink.reset();
  const meter = new CpuMeter({ pool: pool.pid, sink: world.sink.pid });
  await pool.ask({ revision: revisionFor('pool'), count });
  const rate = await ratePerSecond(world, count);
  ground.cpu('pool', meter.sinceStart(), count);
  return rate;
}

function revisionFor(campaignId: string): Revision {
  return revisionOf(campaignId, { audience: { lists: [campaignId === 'warm-up' ? 'warm-up' : 'news'] } });
}

/** The outside judge: every mail once, and how fast between the first and the last. */
async function ratePerSecond({ sink }: World, count: number): Promise<number> {
  const everyMs = 200;
  const stats = await pollUntil(
    async () => {
      const seen = await sink.stats();
      return seen.accepted >= count ? seen : null;
    },
    { deadlineMs: DEADLINE_MS, everyMs },
  );
  if (stats === null) throw new Error(`the sink has only ${(await sink.stats()).accepted} of ${count} mails`);
  if (stats.accepted !== count || stats.doubled > 0)
    throw new Error(`the sink has ${stats.accepted} of ${count} mails`);
  return ((count - 1) * 1000) / ((stats.lastAcceptedAt ?? 0) - (stats.firstAcceptedAt ?? 0));
}

async function peaks(services: ReadonlyMap<Role, ServiceProcess>): Promise<Record<string, number | null>> {
  const entries = [...services].map(async ([role, service]) => [role, await service.peakMiB()] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function stop({ world, watch, services, pool }: Campaigns): Promise<void> {
  await Promise.all([pool.stop(), watch.close(), ...[...services.values()].map((service) => service.stop())]);
  await world.tearDown();
}
