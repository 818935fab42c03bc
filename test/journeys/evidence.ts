import { SENDER, type Journey } from './journey.ts';
import { judge, mailsPerSecond, type OptOut, type Verdict } from './judge.ts';
import type { LedgerAttempt, LedgerOperation } from './ledger.ts';

/** What a journey came to. */
export interface Outcome {
  readonly verdict: Verdict;
  readonly operations: readonly LedgerOperation[];
  /** Attempts of the unknown operations. */
  readonly attempts: readonly LedgerAttempt[];
  readonly leftOut: Readonly<Record<string, number>>;
  readonly mailsPerSecond: number;
}

/** Asks the sink what arrived and holds the ledger against it. */
export async function judgeJourney(journey: Journey, optOuts: readonly OptOut[]): Promise<Outcome> {
  const { world, ledger, expected } = journey;
  const operations = await ledger.operations();
  const { leftOut } = await ledger.standing();
  const arrivals = await world.sink.arrivals();
  const judged = judge({ expected, operations, arrivals, optOuts, senderDomain: SENDER.domain });
  const disagreements = [
    ...judged.disagreements,
    ...(await ledger.deadLetters()).map((text) => `dead letter: ${text}`),
  ];
  const attempts = await ledger.attemptsOf(judged.unknown.map(({ operationKey }) => operationKey));
  return {
    verdict: { ...judged, disagreements },
    operations,
    attempts,
    leftOut,
    mailsPerSecond: mailsPerSecond(arrivals),
  };
}

export function agrees({ lost, doubled, disagreements }: Verdict): boolean {
  return lost.length + doubled.length + disagreements.length === 0;
}
