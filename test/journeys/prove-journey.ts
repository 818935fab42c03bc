import type { ConfigParts } from '../support/world.ts';
import { eventually } from '../support/eventually.ts';
import type { Role } from '../support/service.ts';
import { judgeJourney, type Outcome } from './evidence.ts';
import { watch, type Journey } from './journey.ts';
import type { OptOut } from './judge.ts';
import { Killer, planKills, progressOf } from './kill-plan.ts';
import { countEnded, countIn, isSettled, type Standing } from './ledger.ts';
import { bar, grouped, type Narrator } from './narrator.ts';
import { publishAudience, publishCampaign, publishOptOuts } from './peer-acts.ts';
import { ToldEvents } from './told-events.ts';

export interface ProofPlan {
  readonly kills: number;
  /** Processes of each role; of the API there is one. */
  readonly replicas: number;
  readonly seed: number;
}

export interface Proof extends Outcome {
  readonly kills: number;
  /** Events that the topic holds more than once, each time with the same id. */
  readonly repeatedEvents: number;
}

const TIMEOUT_SECONDS = 2;

/** As short as the configuration lets it be, so that what a killed process held is looked at soon. */
export const PROOF_CONFIG: ConfigParts = {
  provider: { timeoutSeconds: TIMEOUT_SECONDS },
  dispatch: { leaseSeconds: TIMEOUT_SECONDS + 15, rescueSeconds: 1 },
  messaging: { sessionTimeoutSeconds: 6, rebalanceTimeoutSeconds: 12 },
  outbox: { leaseSeconds: 5 },
};
/** Nine processes share one PostgreSQL. */
export const PROOF_ENV = { DATABASE_POOL_SIZE: '10' };

/** Per stage: what a thousand recipients take at the worst, a kill's wait for a lease or a session, and a start. */
const deadlineMs = (recipients: number, kills: number): number => 120_000 + recipients * 10 + kills * 30_000;
const OPT_OUTS = 10;
const OPT_OUTS_AT = 0.55;

/** The campaign of a journey under kill -9 of every role, from the first subscriber to the last event. */
export async function prove(journey: Journey, plan: ProofPlan, narrator: Narrator): Promise<Proof> {
  const { crew, recipients } = journey;
  await crew.start(placesOf(plan.replicas));
  narrator.say('service', `${crew.posts.length} processes, seed ${plan.seed}`);
  const killer = new Killer(journey, planKills(plan.kills, plan.seed), narrator);
  const deadline = deadlineMs(recipients.length, plan.kills);
  const look = async (standing: Standing): Promise<void> => {
    narrator.progress(lineOf(journey, standing));
    await killer.look(standing);
  };

  const suppressions = await publishAudience(journey);
  narrator.say('peer', `published ${grouped(recipients.length)} subscribers and ${suppressions} suppressions`);
  await watch(journey, {
    what: 'the subscribers to be stored',
    deadlineMs: deadline,
    until: (standing) => standing.subscribers === recipients.length && standing.suppressions === suppressions,
    onStanding: look,
  });
  await publishCampaign(journey);
  narrator.say('peer', 'all stored; published the campaign and its approval');

  let optOuts: Promise<OptOut[]> | undefined;
  await watch(journey, {
    what: 'the end of the campaign',
    deadlineMs: deadline,
    until: isSettled,
    onStanding: async (standing) => {
      if (!optOuts && progressOf(journey, standing) >= OPT_OUTS_AT) {
        optOuts = publishOptOuts(journey, OPT_OUTS, TIMEOUT_SECONDS * 1000);
        // Its failure is told where it is awaited, which may be much later.
        optOuts.catch(() => {});
      }
      await look(standing);
    },
  });
  await killer.settled();
  const outcome = await judgeJourney(journey, (await optOuts) ?? []);
  narrator.say('campaign', 'nothing is under way any more; reading all events as a peer');
  const told = await readEvents(journey, outcome, deadline);
  const { verdict } = outcome;
  const disagreements = [
    ...verdict.disagreements,
    ...told.faults(),
    ...told.missing(outcome.operations),
    ...crew.crashes,
  ];
  return { ...outcome, verdict: { ...verdict, disagreements }, kills: killer.done, repeatedEvents: told.repeats };
}

function placesOf(replicas: number): Role[][] {
  const replicated = (['consumer', 'relay', 'dispatcher', 'maintenance'] as const).flatMap((role) =>
    Array.from({ length: replicas }, (): Role[] => [role]),
  );
  return [['api'], ...replicated];
}

/** Reads until nothing is missing, or until the deadline: what is missing then is missing for ever. */
async function readEvents({ world, ledger }: Journey, { operations }: Outcome, deadline: number): Promise<ToldEvents> {
  await eventually('the outbox to be empty', deadline, async () => await ledger.outboxIsEmpty());
  const told = new ToldEvents();
  await world.peer.listen();
  await eventually('the events of all operations', deadline, () => {
    told.take(world.peer.events);
    return told.missing(operations).length === 0;
  });
  return told;
}

function lineOf(journey: Journey, standing: Standing): string {
  const { expected, recipients } = journey;
  const share = bar(progressOf(journey, standing));
  if (standing.subscribers < recipients.length) return `${share}  stored ${grouped(standing.subscribers)} subscribers`;
  const ended = countEnded(standing);
  if (ended === 0) return `${share}  frozen ${grouped(countIn(standing))} of ${grouped(expected.size)}`;
  return `${share}  ended ${grouped(ended)} of ${grouped(expected.size)}  unknown ${countIn(standing, 'unknown')}`;
}
