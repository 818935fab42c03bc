import { describe, expect, it } from 'vitest';
import { flawsOf, type Case, type CaseAttempt, type CaseStep } from './judge.ts';
import type { ToldEvent } from './told.ts';

const at = (minute: number): Date => new Date(Date.UTC(2026, 11, 1, 8, minute));

function tried(minute: number, outcome: string | null, effectId: string | null = null): CaseAttempt {
  const endedAt = outcome === null ? null : at(minute + 1);
  return { purpose: 'deliver', startedAt: at(minute), endedAt, outcome, effectId };
}

function told(...words: readonly string[]): ToldEvent[] {
  return words.map((word) => {
    const [type = '', state = type] = word.split(' ');
    return {
      type,
      state: state as ToldEvent['state'],
      needsPerson: word.includes('person'),
      doubled: word.includes('doubled'),
    };
  });
}

const RESEND: CaseStep = { step: 'policy', outcome: 'resend', at: at(5) };
const RIGHT: Case = {
  name: 'a',
  effects: 1,
  variants: 1,
  state: 'accepted',
  held: false,
  resolvedBy: null,
  doubled: false,
  attempts: [tried(0, 'accepted', 'e1')],
  steps: [],
  receipts: [],
  told: told('accepted'),
};
const UNKNOWN: Partial<Case> = { state: 'unknown', attempts: [tried(0, 'lost')], told: told('unknown') };
const RESENT: Partial<Case> = {
  resolvedBy: 'policy',
  steps: [RESEND],
  attempts: [tried(0, 'lost'), tried(10, 'accepted', 'e2')],
  told: told('unknown', 'resolved queued', 'accepted'),
};

describe('the judge finds nothing wrong', () => {
  it.each<[string, Partial<Case>]>([
    ['with one effect that was accepted', {}],
    ['with an unknown one that had its effect', UNKNOWN],
    ['with an unknown one that had none', { ...UNKNOWN, effects: 0 }],
    ['with a second effect by policy', { ...RESENT, effects: 2 }],
    ['with what a person has to decide', { ...UNKNOWN, told: told('unknown', 'unknown unknown person') }],
    [
      'with two accepted calls that are said to be doubled',
      {
        ...RESENT,
        effects: 2,
        doubled: true,
        attempts: [tried(0, 'accepted', 'e1'), tried(0, 'accepted', 'e2')],
        told: told('unknown', 'resolved queued', 'accepted', 'resolved accepted doubled'),
      },
    ],
    [
      'with one that was never called',
      { effects: 0, variants: 0, state: 'suppressed', attempts: [], told: told('suppressed') },
    ],
  ])('%s', (_label, parts) => {
    expect(flawsOf({ ...RIGHT, ...parts })).toEqual([]);
  });
});

describe('the judge finds', () => {
  it.each<[string, Partial<Case>]>([
    ['2 effects, and the ledger explains 1', { effects: 2 }],
    [
      '2 effects, and the ledger explains 1',
      { ...RESENT, effects: 2, attempts: [tried(0, 'throttled'), tried(10, 'accepted', 'e2')] },
    ],
    ['3 effects, and the ledger explains 2', { ...RESENT, effects: 3 }],
    ['2 different requests for one operation', { variants: 2 }],
    ['accepted, and somebody still holds it', { held: true }],
    ['accepted without an effect', { effects: 0 }],
    ['accepted without evidence', { attempts: [tried(0, 'lost')] }],
    ['suppressed with an effect', { state: 'suppressed', attempts: [tried(0, 'lost')], told: told('suppressed') }],
    ['cancelled, and an attempt was accepted', { ...RESENT, state: 'cancelled', told: told('cancelled') }],
    ['left queued', { state: 'queued', told: [] }],
    ['1 attempts have no outcome', { attempts: [tried(0, null), tried(0, 'accepted', 'e1')] }],
    ['unknown, and no attempt may have had an effect', { ...UNKNOWN, effects: 0, attempts: [tried(0, 'throttled')] }],
    ['unknown, and an attempt was accepted', { ...UNKNOWN, attempts: [tried(0, 'accepted', 'e1')] }],
    ['unknown, and there is a receipt', { ...UNKNOWN, receipts: [{ type: 'delivered', receivedAt: at(1) }] }],
    ['to be sent again, when there was a receipt', { ...RESENT, receipts: [{ type: 'delivered', receivedAt: at(1) }] }],
    ['resolved by policy, of which there is no evidence', { resolvedBy: 'policy' }],
    [
      'two calls were accepted, and it is not said to be doubled',
      { ...RESENT, effects: 2, attempts: [tried(0, 'accepted', 'e1'), tried(0, 'accepted', 'e2')] },
    ],
    [
      'called again when it was known that a call had been accepted',
      { ...RESENT, doubled: true, effects: 2, attempts: [tried(0, 'accepted', 'e1'), tried(10, 'accepted', 'e2')] },
    ],
    ['said to be doubled with 1 effects', { doubled: true }],
    ['accepted, and the last event says nothing', { told: [] }],
    ['accepted was told twice', { told: told('accepted', 'accepted') }],
    ['accepted was told of an unknown one, and not that it is resolved', { told: told('unknown', 'accepted') }],
    ['queued was told after accepted', { told: told('accepted', 'resolved queued') }],
  ])('%s', (flaw, parts) => {
    expect(flawsOf({ ...RIGHT, ...parts })).toContain(`a: ${flaw}`);
  });
});
