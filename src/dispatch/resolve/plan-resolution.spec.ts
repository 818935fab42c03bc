import { describe, expect, it } from 'vitest';
import type { Abilities } from '../../providers/abilities.ts';
import {
  planResolution,
  type PastAttempt,
  type PastStep,
  type ResolutionStep,
  type UnknownHistory,
} from './plan-resolution.ts';

const MINUTE = 60_000;
const START = Date.parse('2026-12-01T08:00:00Z');
const at = (minutes: number): Date => new Date(START + minutes * MINUTE);

const NONE: Abilities = {
  key: { kind: 'none' },
  lookup: { kind: 'none' },
  receipt: { kind: 'none' },
  batch: { kind: 'none' },
  limits: { maxBytes: 1 },
};
const KEY = {
  key: {
    kind: 'replay',
    windowMs: 60 * MINUTE,
    marginMs: 10 * MINUTE,
    comparesPayload: true,
    scope: 'request',
  },
} as const;
const LOOKUP = { lookup: { kind: 'by-reference', minAgeMs: 10 * MINUTE, miss: 'resend' } } as const;
const RECEIPT = { receipt: { kind: 'proves-acceptance', waitMs: 30 * MINUTE } } as const;

const LOST: PastAttempt = { startedAt: at(0), purpose: 'deliver', outcome: 'lost', account: 'a' };
const step = (minutes: number, kind: PastStep['step'], outcome: string, code: string | null = null): PastStep => ({
  at: at(minutes),
  step: kind,
  outcome,
  code,
});
const misses = (...minutes: number[]): PastStep[] => minutes.map((minute) => step(minute, 'lookup', 'miss'));
const seenLast = [...misses(10, 20), step(40, 'lookup', 'miss-with-canary')];

interface Case {
  readonly abilities?: Partial<Abilities>;
  readonly minutes?: number;
  readonly attempts?: readonly PastAttempt[];
  readonly steps?: readonly PastStep[];
  readonly onUnknown?: UnknownHistory['onUnknown'];
}

/** One minute's call timeout, unknown since the first minute. */
function plan({
  abilities = {},
  minutes = 1,
  attempts = [LOST],
  steps = [],
  onUnknown = 'hold',
}: Case): ResolutionStep {
  return planResolution(
    { abilities: { ...NONE, ...abilities }, account: 'a', callTimeoutMs: MINUTE },
    { now: at(minutes), unknownSince: at(1), attempts, steps, onUnknown },
  );
}

const short = (planned: ResolutionStep): string => {
  if (planned.do === 'wait') return `wait until ${(planned.until.getTime() - START) / MINUTE}`;
  return planned.do === 'lookup' && planned.last ? 'lookup, the last' : planned.do;
};

describe('the key', () => {
  it.each<[string, Case, string]>([
    ['is used again at once', {}, 'replay'],
    ['is used again after a wait', { steps: [step(1, 'replay', 'concurrent')] }, 'wait until 1.0333333333333334'],
    [
      'waits longer after each try',
      { steps: Array(3).fill(step(1, 'replay', 'ambiguous')) as PastStep[] },
      'wait until 1.1333333333333333',
    ],
    [
      'waits five minutes at most',
      { steps: Array(30).fill(step(1, 'replay', 'ambiguous')) as PastStep[] },
      'wait until 6',
    ],
    ['is used as long as the call ends before the margin', { minutes: 48.9 }, 'replay'],
    ['is not used when the call might end in the margin', { minutes: 49 }, 'hold'],
    ['is counted from the first try', { minutes: 49, attempts: [LOST, { ...LOST, startedAt: at(20) }] }, 'hold'],
    ['is not used where another account might not know it', { attempts: [{ ...LOST, account: 'b' }] }, 'hold'],
    ['is not used where the account was not kept', { attempts: [{ ...LOST, account: null }] }, 'hold'],
    [
      'is not used after the window, though the next try would have been in it',
      { minutes: 49, steps: [step(48, 'replay', 'ambiguous')] },
      'hold',
    ],
    ...['duplicate', 'key-mismatch', 'rejected', 'definition-changed', 'suppressed', 'expired', 'not-approved'].map(
      (outcome): [string, Case, string] => [
        `is not used again after ${outcome}`,
        { steps: [step(1, 'replay', outcome)] },
        'hold',
      ],
    ),
    ...['not-sent', 'throttled', 'account', 'ambiguous', 'concurrent', 'held-back'].map(
      (outcome): [string, Case, string] => [
        `is used again after ${outcome}`,
        { minutes: 10, steps: [step(1, 'replay', outcome)] },
        'replay',
      ],
    ),
  ])('%s', (_label, each, expected) => {
    expect(short(plan({ abilities: KEY, ...each }))).toBe(expected);
  });

  it('goes before a lookup, and a lookup is made while it waits', () => {
    expect(short(plan({ abilities: { ...KEY, ...LOOKUP }, minutes: 11 }))).toBe('replay');
    const steps = [step(11, 'replay', 'concurrent')];
    expect(short(plan({ abilities: { ...KEY, ...LOOKUP }, minutes: 11, steps }))).toBe('lookup');
  });
});

describe('a lookup', () => {
  it.each<[string, Case, string]>([
    ['waits for the smallest age', { minutes: 9 }, 'wait until 10'],
    ['is made at the smallest age', { minutes: 10 }, 'lookup'],
    ['waits for twice the age', { minutes: 11, steps: misses(10) }, 'wait until 20'],
    ['is made at twice the age', { minutes: 20, steps: misses(10) }, 'lookup'],
    ['is made with a canary at four times the age', { minutes: 40, steps: misses(10, 20) }, 'lookup, the last'],
    [
      'counts from the newest try that may have had an effect',
      { minutes: 15, attempts: [LOST, { ...LOST, startedAt: at(8) }] },
      'wait until 18',
    ],
    ['does not count when it failed', { minutes: 12, steps: [step(10, 'lookup', 'failed')] }, 'lookup'],
    ['waits a minute after it failed', { minutes: 10.5, steps: [step(10, 'lookup', 'failed')] }, 'wait until 11'],
    ['is not made a fourth time', { minutes: 90, steps: misses(10, 20, 40) }, 'hold'],
  ])('%s', (_label, each, expected) => {
    expect(short(plan({ abilities: LOOKUP, ...each }))).toBe(expected);
  });

  it.each<[string, Case, string]>([
    ['resends early where the policy resends, with a canary', { onUnknown: 'resend', steps: seenLast }, 'resend'],
    ['does nothing without a canary', { onUnknown: 'resend', steps: misses(10, 20, 40) }, 'wait until 61'],
    ['does nothing where the policy holds', { steps: seenLast }, 'wait until 61'],
    ['does nothing where the policy assumes', { onUnknown: 'assume-sent', steps: seenLast }, 'wait until 61'],
    ['does nothing after two lookups', { onUnknown: 'resend', steps: seenLast.slice(1), minutes: 39 }, 'wait until 40'],
    [
      'does nothing while a person waits',
      { onUnknown: 'resend', steps: [...seenLast, step(41, 'person', 'wait', at(50).toISOString())] },
      'wait until 50',
    ],
  ])('that misses %s', (_label, each, expected) => {
    const receipt = { receipt: { kind: 'proves-acceptance', waitMs: 60 * MINUTE } } as const;
    expect(short(plan({ abilities: { ...LOOKUP, ...receipt }, minutes: 41, ...each }))).toBe(expected);
  });

  it('that misses may do nothing where the provider does not allow it', () => {
    const abilities = {
      lookup: { ...LOOKUP.lookup, miss: 'hold' },
      receipt: { kind: 'proves-acceptance', waitMs: 60 * MINUTE },
    } as const;
    expect(short(plan({ abilities, minutes: 41, onUnknown: 'resend', steps: seenLast }))).toBe('wait until 61');
  });
});

describe('at the end', () => {
  it.each<[string, Case, string]>([
    ['receipts are waited for', { abilities: RECEIPT, minutes: 30 }, 'wait until 31'],
    ['nothing is waited for where nothing can come', {}, 'hold'],
    ['a person decides', { abilities: RECEIPT, minutes: 31 }, 'hold'],
    ['the policy resends', { abilities: RECEIPT, minutes: 31, onUnknown: 'resend' }, 'resend'],
    ['the policy assumes', { abilities: RECEIPT, minutes: 31, onUnknown: 'assume-sent' }, 'assume-sent'],
    [
      'all sources are waited for',
      { abilities: { ...RECEIPT, ...LOOKUP }, minutes: 31, steps: misses(10, 20), onUnknown: 'resend' },
      'wait until 40',
    ],
    [
      'a person may wait longer than the policy',
      { minutes: 40, onUnknown: 'resend', steps: [step(2, 'person', 'wait', at(50).toISOString())] },
      'wait until 50',
    ],
    [
      'and decides after that',
      { minutes: 51, onUnknown: 'resend', steps: [step(2, 'person', 'wait', at(50).toISOString())] },
      'hold',
    ],
  ])('%s', (_label, each, expected) => {
    expect(short(plan(each))).toBe(expected);
  });
});
