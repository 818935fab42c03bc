import { describe, expect, it } from 'vitest';
import type { PastAttempt, PlannedProvider, UnknownHistory } from '../dispatch/resolve/plan-resolution.ts';
import type { Abilities } from '../providers/abilities.ts';
import { missingEvidence } from './missing-evidence.ts';

const MINUTE = 60_000;
const NOW = new Date('2026-11-29T12:00:00Z');
const before = (minutes: number): Date => new Date(NOW.getTime() - minutes * MINUTE);

const NONE: Abilities = {
  key: { kind: 'none' },
  lookup: { kind: 'none' },
  receipt: { kind: 'none' },
  batch: { kind: 'none' },
  limits: { maxBytes: 1000 },
};
const KEY: Abilities['key'] = {
  kind: 'replay',
  windowMs: 60 * MINUTE,
  marginMs: 10 * MINUTE,
  comparesPayload: true,
  scope: 'request',
};
const LOOKUP: Abilities['lookup'] = { kind: 'by-reference', minAgeMs: 10 * MINUTE, miss: 'hold' };
const RECEIPT: Abilities['receipt'] = { kind: 'proves-acceptance', waitMs: 120 * MINUTE };

function provider(abilities: Partial<Abilities>): PlannedProvider {
  return { abilities: { ...NONE, ...abilities }, account: 'account', callTimeoutMs: MINUTE };
}

function history(minutes: number, parts: Partial<UnknownHistory> = {}): UnknownHistory {
  const attempt: PastAttempt = {
    startedAt: before(minutes),
    purpose: 'deliver',
    outcome: 'ambiguous',
    account: 'account',
  };
  return { now: NOW, unknownSince: before(minutes), attempts: [attempt], steps: [], onUnknown: 'hold', ...parts };
}

const step = (what: 'replay' | 'lookup' | 'person', outcome: string, code: string | null = null) => ({
  at: before(1),
  step: what,
  outcome,
  code,
});

describe('missing evidence', () => {
  it.each<[string, Partial<Abilities>, number, Partial<UnknownHistory>, string[]]>([
    ['nobody can tell', {}, 5, {}, ['nothing']],
    ['the key is still good', { key: KEY }, 48, {}, ['key-window-open']],
    ['the window, less its margin and a call, is over', { key: KEY }, 49, {}, ['nothing']],
    [
      'a replay was throttled and comes again',
      { key: KEY },
      5,
      { steps: [step('replay', 'throttled')] },
      ['key-window-open'],
    ],
    ['the replay has said all it can', { key: KEY }, 5, { steps: [step('replay', 'duplicate')] }, ['nothing']],
    ['lookups are still to come', { lookup: LOOKUP }, 5, {}, ['lookup-pending']],
    [
      'three lookups missed it',
      { lookup: LOOKUP },
      500,
      { steps: [step('lookup', 'miss'), step('lookup', 'miss'), step('lookup', 'miss')] },
      ['nothing'],
    ],
    ['a receipt is waited for', { receipt: RECEIPT }, 119, {}, ['receipt-pending']],
    ['no receipt is waited for any more', { receipt: RECEIPT }, 121, {}, ['nothing']],
    [
      'all of it',
      { key: KEY, lookup: LOOKUP, receipt: RECEIPT },
      5,
      {},
      ['key-window-open', 'lookup-pending', 'receipt-pending'],
    ],
  ])('%s', (_case, abilities, minutes, parts, missing) => {
    expect(missingEvidence(provider(abilities), history(minutes, parts))).toEqual(missing);
  });

  it('is nothing by a key that another account has used', () => {
    const attempts = history(5).attempts.map((attempt) => ({ ...attempt, account: 'before' }));
    expect(missingEvidence(provider({ key: KEY }), history(5, { attempts }))).toEqual(['nothing']);
  });

  it.each(['hold', 'resend', 'assume-sent'] as const)(
    'does not depend on the policy %s, nor on who waits',
    (onUnknown) => {
      const steps = [step('person', 'wait', '2026-12-01T00:00:00Z')];
      expect(missingEvidence(provider({}), history(5, { onUnknown, steps }))).toEqual(['nothing']);
      expect(missingEvidence(provider({ receipt: RECEIPT }), history(5, { onUnknown, steps }))).toEqual([
        'receipt-pending',
      ]);
    },
  );

  it('is nothing where the provider is no longer configured', () => {
    expect(missingEvidence(undefined, history(5))).toEqual(['nothing']);
  });
});
