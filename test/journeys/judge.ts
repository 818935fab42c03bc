import type { OperationState } from '../../src/operations/operation.states.ts';
import type { SinkArrival } from '../support/sinks/smtp-sink.ts';
import type { LedgerOperation } from './ledger.ts';
import { addressKey } from './recipients.ts';

/** An opt-out that was published during the send. */
export interface OptOut {
  readonly addressKey: string;
  /** When it was seen to be in force; what the sink accepts later than `graceMs` after it was called too late. */
  readonly inForceSince: Date;
  /** Longest time that a call which began before may still take. */
  readonly graceMs: number;
}

export interface Evidence {
  /** Whom the campaign must reach, counted from the peer's file alone: address key -> subscriber. */
  readonly expected: ReadonlyMap<string, string>;
  readonly operations: readonly LedgerOperation[];
  /** Every mail that the sink accepted. */
  readonly arrivals: readonly SinkArrival[];
  readonly optOuts: readonly OptOut[];
  /** Domain of the Message-IDs. */
  readonly senderDomain: string;
}

export interface Verdict {
  readonly byState: Readonly<Partial<Record<OperationState, number>>>;
  /** Mails that the sink holds for operations in this state. */
  readonly mailsByState: Readonly<Partial<Record<OperationState, number>>>;
  readonly unknown: readonly { readonly operationKey: string; readonly arrived: boolean }[];
  /** Who must be reached, has no mail, and of whom the ledger does not say why. */
  readonly lost: readonly string[];
  /** Operations and addresses with more than one mail. */
  readonly doubled: readonly string[];
  /** Whatever else the sink and the ledger do not agree about. */
  readonly disagreements: readonly string[];
}

type Count = Partial<Record<OperationState, number>>;
const MAILED: ReadonlySet<OperationState> = new Set(['accepted', 'delivered', 'bounced', 'complained']);
const UNSETTLED: ReadonlySet<OperationState> = new Set(['awaiting-approval', 'queued', 'claimed', 'calling']);

/** Holds the ledger against what really arrived. Nothing it says names an address. */
export function judge(evidence: Evidence): Verdict {
  const { expected, operations, arrivals, senderDomain } = evidence;
  const mails = countBy(arrivals, ({ messageId }) => messageId);
  const byState: Count = {};
  const mailsByState: Count = {};
  const unknown: { operationKey: string; arrived: boolean }[] = [];
  const lost: string[] = [];
  const doubled: string[] = [];
  const disagreements: string[] = [];
  for (const { operationId, operationKey, state, addressKey } of operations) {
    const arrived = mails.get(`<${operationId}@${senderDomain}>`) ?? 0;
    mails.delete(`<${operationId}@${senderDomain}>`);
    byState[state] = (byState[state] ?? 0) + 1;
    mailsByState[state] = (mailsByState[state] ?? 0) + arrived;
    if (state === 'unknown') unknown.push({ operationKey, arrived: arrived > 0 });
    if (arrived > 1) doubled.push(operationKey);
    if (arrived === 0 && (MAILED.has(state) || UNSETTLED.has(state))) lost.push(operationKey);
    if (arrived > 0 && !MAILED.has(state) && state !== 'unknown')
      disagreements.push(`${operationKey} is ${state} and has a mail`);
    if (!expected.has(addressKey)) disagreements.push(`${operationKey} is not of the audience`);
  }
  for (const messageId of mails.keys()) disagreements.push(`a mail that no operation explains: ${messageId}`);
  const known = new Set(operations.map((operation) => operation.addressKey));
  for (const [key, subscriber] of expected) if (!known.has(key)) lost.push(`${subscriber}, who has no operation`);
  doubled.push(...twiceByAddress(arrivals));
  disagreements.push(...strangers(arrivals, known), ...afterOptOut(evidence));
  return { byState, mailsByState, unknown, lost, doubled, disagreements };
}

function twiceByAddress(arrivals: readonly SinkArrival[]): string[] {
  const operationsOf = new Map<string, Set<string>>();
  for (const { recipient, messageId } of arrivals) {
    const key = addressKey(recipient) ?? recipient;
    operationsOf.set(key, (operationsOf.get(key) ?? new Set()).add(messageId));
  }
  // Two mails with one Message-ID are counted as an operation's already.
  return [...operationsOf.values()].filter((ids) => ids.size > 1).map((ids) => `one address by ${[...ids].join(' ')}`);
}

function strangers(arrivals: readonly SinkArrival[], known: ReadonlySet<string>): string[] {
  return arrivals
    .filter(({ recipient }) => !known.has(addressKey(recipient) ?? ''))
    .map(({ messageId }) => `a mail to an address outside the ledger: ${messageId}`);
}

function afterOptOut({ arrivals, optOuts }: Evidence): string[] {
  const latest = new Map(optOuts.map((each) => [each.addressKey, each.inForceSince.getTime() + each.graceMs]));
  return arrivals
    .filter(({ recipient, at }) => at > (latest.get(addressKey(recipient) ?? '') ?? Infinity))
    .map(({ messageId }) => `a mail to someone who had opted out before: ${messageId}`);
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

/** Pauses longer than this one, in milliseconds, are waiting (for a killed process's lease) and not sending. */
const PAUSE_MS = 1_000;

/** Mails a second while mails came in; pauses of more than a second do not count. */
export function mailsPerSecond(arrivals: readonly SinkArrival[]): number {
  const times = arrivals.map(({ at }) => at).toSorted((a, b) => a - b);
  let sendingMs = 0;
  for (const [index, at] of times.entries()) {
    const gap = at - (times[index - 1] ?? at);
    if (gap <= PAUSE_MS) sendingMs += gap;
  }
  return sendingMs === 0 ? 0 : Math.round((times.length / sendingMs) * 1000);
}
