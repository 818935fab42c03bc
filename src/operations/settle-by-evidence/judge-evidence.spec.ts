import { describe, expect, it } from 'vitest';
import type { OperationState } from '../operation.states.ts';
import {
  judgeEvidence,
  type AttemptEvidence,
  type JudgedOperation,
  type ReceiptEvidence,
  type ReceiptType,
} from './judge-evidence.ts';

const at = (minutes: number): Date => new Date(Date.parse('2026-12-01T08:00:00Z') + minutes * 60_000);
const attempt = (minutes: number, outcome: string | null, effectId: string | null = null): AttemptEvidence => ({
  purpose: 'deliver',
  startedAt: at(minutes),
  outcome,
  effectId,
  code: 'code',
});
const receipt = (type: ReceiptType, minutes = 60, effectId: string | null = null): ReceiptEvidence => ({
  receiptId: `${type}-1`,
  type,
  occurredAt: at(minutes),
  effectId,
});
const operation = (state: OperationState, effectId: string | null = null): JudgedOperation => ({
  state,
  effectId,
  doubled: false,
});

const LOST = attempt(0, 'lost');

describe('a receipt', () => {
  it.each<[ReceiptType, OperationState]>([
    ['accepted', 'accepted'],
    ['deferred', 'accepted'],
    ['delivered', 'delivered'],
    ['unsubscribed', 'delivered'],
    ['bounced', 'bounced'],
    ['complained', 'complained'],
    ['rejected', 'rejected'],
  ])('%s resolves what is unknown as %s', (type, state) => {
    expect(judgeEvidence(operation('unknown'), [LOST], [receipt(type)])).toMatchObject({
      state,
      resolvedBy: 'receipt',
    });
  });

  it.each<[OperationState, ReceiptType, OperationState | null]>([
    ['accepted', 'delivered', 'delivered'],
    ['accepted', 'bounced', 'bounced'],
    ['accepted', 'complained', 'complained'],
    ['accepted', 'rejected', 'rejected'],
    ['accepted', 'accepted', null],
    ['accepted', 'deferred', null],
    ['delivered', 'bounced', 'bounced'],
    ['delivered', 'accepted', null],
    ['delivered', 'rejected', null],
    ['bounced', 'delivered', null],
    ['bounced', 'complained', 'complained'],
    ['complained', 'bounced', null],
    ['rejected', 'delivered', null],
    ['calling', 'delivered', null],
  ])('of %s that says %s makes it %s', (state, type, expected) => {
    const verdict = judgeEvidence(operation(state), [attempt(0, 'accepted')], [receipt(type)]);
    expect(verdict && [verdict.state, verdict.resolvedBy]).toEqual(expected && [expected, null]);
  });

  it('counts by severity, in whatever order they came', () => {
    const receipts = [receipt('complained', 1), receipt('delivered', 2), receipt('accepted', 3)];
    for (const order of [receipts, receipts.toReversed()])
      expect(judgeEvidence(operation('unknown'), [LOST], order)).toMatchObject({ state: 'complained' });
  });

  it.each<OperationState>(['queued', 'claimed', 'awaiting-approval', 'cancelled', 'expired', 'suppressed', 'dead'])(
    'of an earlier call counts for more than that it is %s',
    (state) => {
      expect(judgeEvidence(operation(state), [LOST], [receipt('delivered')])).toMatchObject({
        state: 'delivered',
        resolvedBy: 'receipt',
      });
    },
  );

  it('of what was never called means nothing', () => {
    expect(judgeEvidence(operation('queued'), [], [receipt('delivered')])).toBeNull();
    expect(judgeEvidence(operation('cancelled'), [], [receipt('delivered')])).toBeNull();
    expect(judgeEvidence(operation('queued'), [attempt(0, 'throttled')], [receipt('delivered')])).toBeNull();
  });

  it('that an earlier call was refused does not end what is queued again', () => {
    expect(judgeEvidence(operation('queued'), [LOST], [receipt('rejected')])).toBeNull();
  });
});

describe('an answer that came late', () => {
  it.each<[string, OperationState]>([
    ['accepted', 'accepted'],
    ['rejected', 'rejected'],
    ['suppressed', 'suppressed'],
    ['not-sent', 'queued'],
    ['throttled', 'queued'],
    ['account', 'queued'],
  ])('%s makes what is unknown %s', (outcome, state) => {
    expect(judgeEvidence(operation('unknown'), [attempt(0, outcome, 'e')], [])).toMatchObject({
      state,
      resolvedBy: 'late-result',
    });
  });

  it('says nothing while another call may have had an effect', () => {
    expect(judgeEvidence(operation('unknown'), [LOST, attempt(1, 'rejected')], [])).toBeNull();
  });

  it('that a replay was refused says nothing of the call', () => {
    const replay: AttemptEvidence = { ...attempt(1, 'rejected'), purpose: 'replay' };
    expect(judgeEvidence(operation('unknown'), [LOST, replay], [])).toBeNull();
  });

  it('of an acceptance keeps it from being called again', () => {
    expect(judgeEvidence(operation('queued'), [attempt(0, 'accepted', 'e')], [])).toMatchObject({
      state: 'accepted',
      effectId: 'e',
    });
  });
});

describe('two effects', () => {
  const accepted = operation('accepted', 'second');
  const second = attempt(30, 'accepted', 'second');

  it.each<[string, readonly AttemptEvidence[], readonly ReceiptEvidence[]]>([
    ['two accepted tries', [attempt(0, 'accepted', 'first'), second], []],
    ['two accepted tries without ids', [attempt(0, 'accepted'), attempt(30, 'accepted')], []],
    ['a receipt of another effect', [LOST, second], [receipt('delivered', 60, 'first')]],
    ['a receipt of before the accepted try', [LOST, second], [receipt('delivered', 5)]],
  ])('are proven by %s', (_label, attempts, receipts) => {
    expect(judgeEvidence(accepted, attempts, receipts)).toMatchObject({ doubled: true });
  });

  it.each<[string, readonly AttemptEvidence[], readonly ReceiptEvidence[]]>([
    ['one try with a receipt of another id', [second], [receipt('accepted', 60, 'other')]],
    ['a replay after an accepted try', [attempt(0, 'accepted', 'x'), { ...second, purpose: 'replay' }], []],
    ['two accepted tries of one effect', [attempt(0, 'accepted', '<second>'), second], []],
    ['a receipt of the accepted effect', [LOST, second], [receipt('accepted', 60, '<second>')]],
    ['a receipt of one recipient of it', [LOST, second], [receipt('accepted', 60, 'second.rcpt1')]],
    ['a receipt that a slow clock dates a moment too early', [LOST, second], [receipt('accepted', 29.6)]],
    ['a try that was refused before', [attempt(0, 'rejected'), second], [receipt('accepted', 5)]],
  ])('are not proven by %s', (_label, attempts, receipts) => {
    expect(judgeEvidence(accepted, attempts, receipts)).toBeNull();
  });

  it('are told once', () => {
    const attempts = [attempt(0, 'accepted', 'first'), second];
    expect(judgeEvidence({ ...accepted, doubled: true }, attempts, [])).toBeNull();
  });
});

describe('a receipt of rejected', () => {
  const first = attempt(0, 'accepted', 'first');
  const second = attempt(60, 'accepted', 'second');
  const takenBack = receipt('rejected', 5, 'first');

  it.each<[string, JudgedOperation, readonly AttemptEvidence[], readonly ReceiptEvidence[]]>([
    ['a later call that was accepted', operation('accepted', 'second'), [first, second], [takenBack]],
    [
      'a later call that was accepted, without ids',
      operation('accepted'),
      [attempt(0, 'accepted'), attempt(60, 'accepted')],
      [receipt('rejected', 5)],
    ],
    [
      'a later call whose outcome is not known',
      operation('unknown', 'first'),
      [first, attempt(60, 'lost')],
      [takenBack],
    ],
    [
      'a later call that will be tried again',
      operation('queued', 'first'),
      [first, attempt(60, 'throttled')],
      [takenBack],
    ],
    ['a call that is to come', operation('queued', 'first'), [first], [takenBack]],
    [
      'a call after a lost one, however late it comes',
      operation('accepted', 'second'),
      [LOST, second],
      [receipt('rejected', 90, 'first')],
    ],
    [
      'a call after one that was replayed in vain',
      operation('unknown'),
      [LOST, { ...attempt(3, 'lost'), purpose: 'replay' }, attempt(60, 'lost')],
      [receipt('rejected', 5)],
    ],
    [
      'a call after one that a replay had found accepted',
      operation('queued', 'first'),
      [LOST, { ...attempt(3, 'accepted', 'first'), purpose: 'replay' }],
      [takenBack],
    ],
    [
      'a later call, told by a clock that is far behind',
      operation('accepted', 'second'),
      [first, second],
      [receipt('rejected', -5, 'first')],
    ],
  ])('of an earlier call says nothing of %s', (_label, judged, attempts, receipts) => {
    expect(judgeEvidence(judged, attempts, receipts)).toBeNull();
  });

  it('takes with it what else was said of its call', () => {
    const receipts = [receipt('accepted', 1, 'first'), takenBack];
    expect(judgeEvidence(operation('unknown', 'first'), [first, attempt(60, 'lost')], receipts)).toBeNull();
    expect(judgeEvidence(operation('queued', 'first'), [first], receipts)).toBeNull();
  });

  it('lets what came of the later call count when all others were taken back', () => {
    expect(judgeEvidence(operation('unknown'), [first, attempt(60, 'not-sent')], [takenBack])).toMatchObject({
      state: 'queued',
      resolvedBy: 'late-result',
    });
  });

  it('takes nothing back that was delivered', () => {
    const receipts = [takenBack, receipt('delivered', 6, 'first')];
    expect(judgeEvidence(operation('accepted', 'second'), [first, second], receipts)).toMatchObject({
      state: 'delivered',
      doubled: true,
    });
  });

  it.each<[string, readonly AttemptEvidence[], ReceiptEvidence]>([
    ['by its effect', [first, second], receipt('rejected', 65, 'second')],
    ['by its time', [LOST, attempt(60, 'accepted')], receipt('rejected', 65)],
    [
      'by both, where two calls had one effect',
      [first, attempt(60, 'accepted', 'first')],
      receipt('rejected', 65, 'first'),
    ],
  ])('of the last call ends it, known %s', (_label, attempts, said) => {
    expect(judgeEvidence(operation('accepted', 'second'), attempts, [said])).toMatchObject({ state: 'rejected' });
  });
});

describe('a call that was refused, after one whose outcome was not known', () => {
  it.each<[string, readonly AttemptEvidence[], readonly ReceiptEvidence[], OperationState]>([
    ['an answer that came late', [attempt(0, 'accepted', 'first'), attempt(60, 'rejected')], [], 'accepted'],
    ['a receipt', [LOST, attempt(60, 'rejected')], [receipt('delivered', 90, 'first')], 'delivered'],
  ])('does not hide %s', (_label, attempts, receipts, state) => {
    expect(judgeEvidence(operation('rejected'), attempts, receipts)).toMatchObject({ state, effectId: 'first' });
  });

  it.each<[string, readonly AttemptEvidence[], readonly ReceiptEvidence[]]>([
    ['nothing more was said', [LOST, attempt(60, 'rejected')], []],
    ['the first was refused as well', [LOST, attempt(60, 'rejected')], [receipt('rejected', 5)]],
    ['there was no other', [attempt(60, 'rejected')], [receipt('delivered', 90)]],
    [
      'the first was accepted and then refused',
      [attempt(0, 'accepted', 'first'), attempt(60, 'rejected')],
      [receipt('accepted', 1, 'first'), receipt('rejected', 5, 'first')],
    ],
  ])('stays refused where %s', (_label, attempts, receipts) => {
    expect(judgeEvidence(operation('rejected'), attempts, receipts)).toBeNull();
  });
});
