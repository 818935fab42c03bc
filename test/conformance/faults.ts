import { RETRY_AFTER_SECONDS, type ApiAction, type ApiPhase, type ApiRule } from '../support/sinks/api-sink.ts';
import type { SinkAction, SinkPhase, SinkRule } from '../support/sinks/smtp-sink.ts';
import type { OutcomeKind } from './stand.ts';

/** What a peer on Kafka may do with a delivery. */
export type PeerFault =
  | { readonly do: 'answer'; readonly as: 'ambiguous' | 'not-sent' | 'throttled' | 'account'; readonly effect: boolean }
  | { readonly do: 'throw'; readonly effect: boolean }
  | { readonly do: 'stall'; readonly effect: boolean };

/** One misfortune of a call, as each kind of server brings it about (null: it has none), and what must come of it. */
export interface Fault {
  readonly name: string;
  readonly api: ApiRule | null;
  readonly smtp: SinkRule | null;
  readonly peer: PeerFault | null;
  readonly effects: 0 | 1;
  readonly outcomes: readonly OutcomeKind[];
  /** Providers for which another outcome is right, by name of the stand. */
  readonly otherwise: Readonly<Record<string, readonly OutcomeKind[]>>;
  /**
   * What ends the call: an answer or the end of the connection; or only the caller's own clock, since the server says nothing
   * until it is released (`silence`) or does not come to an end (`slowness`).
   */
  readonly endedBy: 'server' | 'silence' | 'slowness';
}

type Part = Partial<Omit<Fault, 'name' | 'effects' | 'outcomes'>>;

function fault(name: string, effects: 0 | 1, outcomes: OutcomeKind | readonly OutcomeKind[], part: Part): Fault {
  const usual = { api: null, smtp: null, peer: null, otherwise: {}, endedBy: 'server' } as const;
  return { name, effects, outcomes: typeof outcomes === 'string' ? [outcomes] : outcomes, ...usual, ...part };
}

function api(phase: ApiPhase, action: ApiAction): { readonly api: ApiRule } {
  return { api: { phase, action } };
}

function smtp(phase: SinkPhase, action: SinkAction): { readonly smtp: SinkRule } {
  return { smtp: { phase, action } };
}

function reply(phase: SinkPhase, line: string): { readonly smtp: SinkRule } {
  return smtp(phase, { do: 'reply', line });
}

function peer(fault: PeerFault): { readonly peer: PeerFault } {
  return { peer: fault };
}

/** What these two say is in the status and a header; the body is empty, so nothing is lost with it. */
const HEADERS_SAY_ALL: Readonly<Record<string, readonly OutcomeKind[]>> = {
  sendgrid: ['accepted', 'ambiguous'],
  mailersend: ['accepted', 'ambiguous'],
};

const AFTER_THE_EFFECT: readonly Fault[] = [
  fault('drop after effect', 1, 'ambiguous', {
    ...api('accepted', { do: 'drop' }),
    ...smtp('accepted', { do: 'drop' }),
    ...peer({ do: 'answer', as: 'ambiguous', effect: true }),
  }),
  fault('reset after effect', 1, 'ambiguous', {
    ...api('accepted', { do: 'reset' }),
    ...smtp('accepted', { do: 'reset' }),
    ...peer({ do: 'throw', effect: true }),
  }),
  fault('stall after effect', 1, 'ambiguous', {
    ...api('accepted', { do: 'stall' }),
    ...smtp('accepted', { do: 'stall' }),
    ...peer({ do: 'stall', effect: true }),
    endedBy: 'silence',
  }),
  fault('500 after effect', 1, 'ambiguous', api('accepted', { do: 'refuse', as: 'server-error' })),
  fault('503 after effect', 1, 'ambiguous', api('accepted', { do: 'refuse', as: 'unavailable' })),
  fault('HTML after effect', 1, 'ambiguous', {
    ...api('accepted', { do: 'garbage' }),
    ...reply('accepted', 'welcome, please sign in'),
  }),
  fault('nothing after effect', 1, 'ambiguous', api('accepted', { do: 'empty' })),
  fault('half an answer', 1, 'ambiguous', {
    ...api('accepted', { do: 'truncate', where: 'json' }),
    otherwise: HEADERS_SAY_ALL,
  }),
  fault('answer cut off', 1, 'ambiguous', {
    ...api('accepted', { do: 'truncate', where: 'connection' }),
    otherwise: HEADERS_SAY_ALL,
  }),
  fault('no HTTP after effect', 1, 'ambiguous', api('accepted', { do: 'babble' })),
  fault('answer in drops', 1, 'ambiguous', {
    ...api('accepted', { do: 'drip', everyMs: 150 }),
    endedBy: 'slowness',
    otherwise: HEADERS_SAY_ALL,
  }),
  fault('answer of 10 MB', 1, 'ambiguous', {
    ...api('accepted', { do: 'huge', bytes: 10 * 1024 * 1024 }),
    otherwise: HEADERS_SAY_ALL,
  }),
];

const BEFORE_THE_EFFECT: readonly Fault[] = [
  // Whether a byte has left before the reset, only the client's system knows.
  fault('reset unread', 0, ['ambiguous', 'not-sent'], {
    ...api('head', { do: 'reset' }),
    ...smtp('data', { do: 'reset' }),
    ...peer({ do: 'answer', as: 'not-sent', effect: false }),
  }),
  fault('reset when read', 0, 'ambiguous', {
    ...api('body', { do: 'reset' }),
    ...smtp('dot', { do: 'reset' }),
    ...peer({ do: 'throw', effect: false }),
  }),
  fault('drop when read', 0, 'ambiguous', {
    ...api('body', { do: 'drop' }),
    ...smtp('dot', { do: 'drop' }),
    ...peer({ do: 'answer', as: 'ambiguous', effect: false }),
  }),
  fault('stall before effect', 0, 'ambiguous', {
    ...api('body', { do: 'stall' }),
    ...smtp('dot', { do: 'stall' }),
    ...peer({ do: 'stall', effect: false }),
    endedBy: 'silence',
  }),
  fault('500 before effect', 0, 'ambiguous', api('body', { do: 'refuse', as: 'server-error' })),
  fault('503 before effect', 0, 'ambiguous', api('body', { do: 'refuse', as: 'unavailable' })),
  // What a generic endpoint says so is taken at its word: RFC 9110 15.6.4.
  fault('503 with Retry-After', 0, 'ambiguous', {
    ...api('body', { do: 'reply', status: 503, headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } }),
    otherwise: { 'generic-replay': ['throttled'], 'generic-reject': ['throttled'], 'generic-plain': ['throttled'] },
  }),
  fault('408', 0, 'ambiguous', api('body', { do: 'reply', status: 408 })),
  fault('HTML', 0, 'ambiguous', { ...api('body', { do: 'garbage' }), ...reply('dot', 'welcome, please sign in') }),
  fault('nothing', 0, 'ambiguous', api('body', { do: 'empty' })),
];

/** Odd, and yet an answer that says what it must. */
const ANSWERED: readonly Fault[] = [
  fault('interim answer', 1, 'accepted', api('body', { do: 'interim' })),
  fault('refused unread', 0, 'account', api('head', { do: 'refuse', as: 'unauthorized' })),
];

const REFUSED: readonly Fault[] = [
  fault('throttled', 0, 'throttled', {
    ...api('body', { do: 'refuse', as: 'throttled' }),
    ...reply('rcpt', '451 4.7.0 slow down'),
    ...peer({ do: 'answer', as: 'throttled', effect: false }),
  }),
  fault('shutting down', 0, 'throttled', reply('mail', '421 4.3.2 shutting down')),
  fault('unauthorized', 0, 'account', {
    ...api('body', { do: 'refuse', as: 'unauthorized' }),
    ...reply('mail', '530 5.7.0 authentication required'),
    ...peer({ do: 'answer', as: 'account', effect: false }),
  }),
  fault('forbidden', 0, 'account', {
    ...api('body', { do: 'refuse', as: 'forbidden' }),
    ...reply('rcpt', '554 5.7.1 relay access denied'),
  }),
  // SparkPost has a status of its own for a limit that ends with the hour or the day.
  fault('quota', 0, 'account', {
    ...api('body', { do: 'refuse', as: 'quota' }),
    otherwise: { sparkpost: ['throttled', 'account'] },
  }),
  fault('redirect', 0, 'account', api('body', { do: 'redirect' })),
  fault('message rejected', 0, 'rejected', {
    ...api('body', { do: 'refuse', as: 'rejected-message' }),
    ...reply('dot', '554 5.7.1 looks like spam'),
  }),
  fault('recipient rejected', 0, 'rejected', {
    ...api('body', { do: 'refuse', as: 'rejected-recipient' }),
    ...reply('rcpt', '550 5.1.1 no such user'),
  }),
  fault('suppressed', 0, 'suppressed', api('body', { do: 'refuse', as: 'suppressed' })),
  fault('key in progress', 0, 'concurrent', api('body', { do: 'refuse', as: 'concurrent' })),
  fault('key with other bytes', 0, 'key-mismatch', api('body', { do: 'refuse', as: 'mismatch' })),
  fault('key seen', 0, 'duplicate', api('body', { do: 'refuse', as: 'duplicate' })),
];

export const FAULTS: readonly Fault[] = [...AFTER_THE_EFFECT, ...BEFORE_THE_EFFECT, ...ANSWERED, ...REFUSED];
