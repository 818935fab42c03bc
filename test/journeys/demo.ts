import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import type { Post } from './crew.ts';
import { agrees, judgeJourney } from './evidence.ts';
import { watch, type Journey } from './journey.ts';
import { countEnded, countIn, isSettled, type Standing } from './ledger.ts';
import { bar, createNarrator, grouped } from './narrator.ts';
import { publishAudience, publishCampaign, publishOptOuts } from './peer-acts.ts';
import { reportOf } from './report.ts';
import { runJourney } from './run-journey.ts';

/**
 * `npm run demo`: a campaign of 5,000 with everything real, whose dispatcher is killed in the middle and started again; at
 * the end the mail sink says whether the ledger tells the truth.
 */
const RECIPIENTS = 5_000;
const KILL_AT = 0.4;
const DEADLINE_MS = 120_000;
const CONFIG_FILE = fileURLToPath(new URL('../../einmal.example.yaml', import.meta.url));

const PROMISE = `
  The campaign stays in "sending" because of the unknown ones, and that is the promise: each
  operation takes effect once, or Einmal says that it does not know, with the evidence. Mailing them
  again might double them, calling them sent might lose them: a person decides (onUnknown: hold).`;

const narrator = createNarrator(process.stdout);
narrator.print(
  `Einmal demo: one campaign to ${grouped(RECIPIENTS)} rows of a CSV file, and one kill -9 in the middle\n`,
);
await runJourney(narrator, { recipients: RECIPIENTS, configFile: CONFIG_FILE }, demo);

async function demo(journey: Journey): Promise<boolean> {
  const { crew, ledger } = journey;
  const [, dispatcher] = await crew.start([['api', 'consumer', 'relay', 'maintenance'], ['dispatcher']]);
  if (!dispatcher) throw new Error('the crew has no dispatcher');
  narrator.say('service', `two processes: api+consumer+relay+maintenance, and dispatcher (${pidOf(dispatcher)})`);

  await publishEverything(journey);
  await watch(journey, {
    what: 'the first mails',
    deadlineMs: DEADLINE_MS,
    until: (standing) => countEnded(standing) >= KILL_AT * journey.expected.size,
    onStanding: (standing) => narrator.progress(progressOf(journey, standing)),
  });

  await killInTheMiddle(journey, dispatcher);
  const optOuts = await publishOptOuts(journey, 1, 0);
  narrator.say('peer', 'published the opt-out of a subscriber who is still queued; it is in force');
  await dispatcher.restart();
  narrator.say('start', `a new dispatcher (${pidOf(dispatcher)}); what the killed one had claimed waits for its lease`);
  await watch(journey, {
    what: 'the end of the campaign',
    deadlineMs: DEADLINE_MS,
    until: isSettled,
    onStanding: (standing) => narrator.progress(progressOf(journey, standing)),
  });

  const outcome = await judgeJourney(journey, optOuts);
  const { campaignState } = await ledger.standing();
  narrator.say('campaign', `nothing is under way any more; the campaign is ${campaignState}`);
  narrator.print(reportOf(outcome));
  if (campaignState === 'sending') narrator.print(PROMISE);
  return agrees(outcome.verdict);
}

async function publishEverything(journey: Journey): Promise<void> {
  const { recipients } = journey;
  const suppressions = await publishAudience(journey);
  narrator.say('peer', `published ${grouped(recipients.length)} subscribers and ${suppressions} suppressions`);
  await watch(journey, {
    what: 'the subscribers to be stored',
    deadlineMs: DEADLINE_MS,
    until: (standing) => standing.subscribers === recipients.length && standing.suppressions === suppressions,
    onStanding: ({ subscribers }) => narrator.progress(`stored     ${grouped(subscribers)} subscribers`),
  });
  await publishCampaign(journey);
  narrator.say('peer', 'all stored; published the campaign and the approval of exactly its content');
}

async function killInTheMiddle({ ledger }: Journey, dispatcher: Post): Promise<void> {
  const killed = pidOf(dispatcher);
  await dispatcher.kill();
  // Until PostgreSQL has noticed it, a statement of the killed process may still commit.
  await eventually('the end of its connections', 10_000, async () => !(await ledger.isConnected('einmal dispatcher')));
  const standing = await ledger.standing();
  narrator.say(
    'kill -9',
    `the dispatcher (${killed}): ${countIn(standing, 'calling')} calls begun without a stored result, ${countIn(standing, 'claimed')} claimed`,
  );
}

function progressOf({ expected }: Journey, standing: Standing): string {
  const ended = countEnded(standing);
  const parts = (['suppressed', 'unknown'] as const).map((state) => ({
    state,
    n: countIn(standing, state),
  }));
  const shown = parts.filter(({ n }) => n > 0).map(({ state, n }) => `  ${state} ${grouped(n)}`);
  const place = `${bar(ended / expected.size)}  ${grouped(ended)} of ${grouped(expected.size)}${shown.join('')}`;
  const underWay = countIn(standing, 'claimed', 'calling');
  if (standing.leaseSeconds === null) return place;
  const waits = countIn(standing, 'queued') === 0 ? ` (lease: ${Math.max(0, standing.leaseSeconds)} s)` : '';
  return `${place}  under way ${underWay}${waits}`;
}

function pidOf(post: Post): string {
  return `pid ${post.process.pid}`;
}
