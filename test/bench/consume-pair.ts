import { randomBytes } from 'node:crypto';
import kafkajs from 'kafkajs';
import type { OperationRequest } from '../../src/operations/request-operations/plan-operation.ts';
import { TOPIC_NAMES, topicAddress } from '../../src/messaging/topics.ts';
import { createWorld, type World } from '../support/world.ts';
import { startChild } from './bench-child.ts';
import { CpuMeter, type CpuSeconds } from './cpu-meter.ts';
import { median, ordered, rounded } from './figures.ts';
import { LedgerWatch } from './ledger-watch.ts';
import type { BenchGround } from './bench-ground.ts';

const PARTITIONS = 6;
const DEFAULT_RECORDS = 20_000;
/** The usual way has the same rate from the first hundred messages on, and takes minutes for as many as ours. */
const USUAL_SHARE = 0.1;
const WARM_UP = { einmal: 3_000, usual: 500 };
const DEADLINE_MS = 120_000;

/** One way of consuming: its process, its topics, its database. */
interface Side {
  readonly name: 'einmal' | 'usual';
  readonly pid: number;
  readonly world: World;
  readonly watch: LedgerWatch;
  readonly rates: number[];
  expected: number;
  stop(): Promise<void>;
}

/**
 * Requests from Kafka through inbox, ledger and outbox, by the service's consumer role in one process and by Nest's own
 * ServerKafka in another, with the same functions for the work itself.
 */
export async function consumePair(ground: BenchGround, runs: number, size: number | null): Promise<object> {
  const records = size ?? DEFAULT_RECORDS;
  const usualRecords = Math.max(200, Math.round(records * USUAL_SHARE));
  const einmal = await startEinmal(ground);
  const usual = await startUsualWay(ground);
  await consume(einmal, 'warm-up:', WARM_UP.einmal);
  await consume(usual, 'warm-up:', WARM_UP.usual);
  for (let run = 0; run < runs; run++) {
    for (const side of ordered(run, einmal, usual)) {
      const prefix = `run-${run}:`;
      const count = side === einmal ? records : usualRecords;
      const cpu = await consume(side, prefix, count, ground);
      side.rates.push(await side.watch.committedPerSecond(prefix));
      ground.progress(`consume: run ${run + 1} of ${runs}, ${side.name}: ${rounded(side.rates.at(-1) ?? 0)} a second`);
      ground.cpu(`consume ${side.name}`, cpu, count);
    }
  }
  await Promise.all([einmal.stop(), usual.stop()]);
  const [einmalPerSecond, usualPerSecond] = [median(einmal.rates), median(usual.rates)];
  return {
    pair: 'consume',
    records,
    usualRecords,
    runs,
    partitions: PARTITIONS,
    einmalPerSecond: rounded(einmalPerSecond),
    usualPerSecond: rounded(usualPerSecond),
    ratio: rounded(einmalPerSecond / usualPerSecond, 1),
  };
}

async function startEinmal(ground: BenchGround): Promise<Side> {
  const world = await createWorld({ ...ground.stack, config: { messaging: { partitions: PARTITIONS } } });
  await createTopics(world);
  const service = await world.start(['consumer']);
  await service.ready();
  return await sideOf('einmal', service.pid, world, async () => void (await service.stop()));
}

async function startUsualWay(ground: BenchGround): Promise<Side> {
  const world = await createWorld({ ...ground.stack });
  await createTopics(world);
  const { databaseUrl, kafkaBrokers, topicPrefix } = world;
  const groupId = `usual-${randomBytes(4).toString('hex')}`;
  const child = await startChild('usual-way/usual-way.ts', { databaseUrl, kafkaBrokers, topicPrefix, groupId });
  return await sideOf('usual', child.pid, world, async () => await child.stop());
}

async function sideOf(name: Side['name'], pid: number, world: World, stop: () => Promise<void>): Promise<Side> {
  const watch = await LedgerWatch.open(world.databaseUrl);
  const stopAll = async (): Promise<void> => {
    await stop();
    await watch.close();
    await world.tearDown();
  };
  return { name, pid, world, watch, rates: [], expected: 0, stop: stopAll };
}

/** The consumer is held by SIGSTOP while its messages are published: it finds them all there, and is still warm. */
async function consume(side: Side, prefix: string, count: number, ground?: BenchGround): Promise<CpuSeconds> {
  const requests = Array.from({ length: count }, (_, index) => requestOf(`${prefix}${index}`, index));
  const meter = new CpuMeter({ consumer: side.pid, ...ground?.servers() });
  process.kill(side.pid, 'SIGSTOP');
  try {
    await side.world.peer.publish('einmal.operation.requested.v1', requests);
  } finally {
    meter.restart();
    process.kill(side.pid, 'SIGCONT');
  }
  side.expected += count;
  await side.watch.reaches('operations', side.expected, DEADLINE_MS);
  return meter.sinceStart();
}

function requestOf(operationKey: string, index: number): OperationRequest {
  return {
    operationKey,
    kind: 'email',
    class: 'transactional',
    request: {
      to: `customer${index}@example.com`,
      from: 'Shop <orders@einmal.example>',
      subject: `Your order ${index}`,
      html: `<html><body><h1>Thank you</h1><p>We have received your order ${index} and will tell you when it leaves our house. It will take two or three days.</p><p>Kind regards, your shop</p></body></html>`,
    },
  };
}

async function createTopics({ kafkaBrokers, topicPrefix }: World): Promise<void> {
  const kafka = new kafkajs.Kafka({ brokers: kafkaBrokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const topics = TOPIC_NAMES.map((name) => ({ topic: topicAddress(topicPrefix, name), numPartitions: PARTITIONS }));
  await admin.createTopics({ topics, waitForLeaders: true });
  await admin.disconnect();
}
