import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Abilities } from '../../../src/providers/abilities.ts';
import type { CallOutcome, LookupOutcome } from '../../../src/providers/provider.port.ts';
import { gateAt } from '../../../src/runtime/signal.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import { ACCEPTED, ScriptedProvider, type Worker } from '../../support/dispatch-worker.ts';
import { eventually } from '../../support/eventually.ts';

const MINUTE = 60_000;
const KEY: Abilities['key'] = {
  kind: 'replay',
  windowMs: 24 * 60 * MINUTE,
  marginMs: 60 * MINUTE,
  comparesPayload: true,
  scope: 'request',
};
const LOOKUP: Abilities['lookup'] = { kind: 'by-reference', minAgeMs: 10 * MINUTE, miss: 'resend' };
const RECEIPT: Abilities['receipt'] = { kind: 'proves-acceptance', waitMs: 60 * MINUTE };

const AMBIGUOUS: CallOutcome = { kind: 'ambiguous', code: 'timeout', diagnostic: 'no answer in time' };
const CONCURRENT: CallOutcome = { kind: 'concurrent', code: 'http-409', diagnostic: 'still running' };
const THROTTLED: CallOutcome = { kind: 'throttled', retryAfterMs: 1, code: 'http-429', diagnostic: 'too many' };
const HIT: LookupOutcome = { kind: 'hit', effectId: 'found', state: 'accepted', code: 'http-200', diagnostic: 'seen' };

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

/** Answers in turn, then `accepted`. */
function answering(abilities: Partial<Abilities>, ...answers: readonly CallOutcome[]): ScriptedProvider {
  return new ScriptedProvider((_mail, nth) => answers[nth - 1] ?? ACCEPTED, 4, abilities);
}

/** `a` has been called by this worker once, and nobody knows what came of it. */
async function unknown(provider: ScriptedProvider, parts: Parameters<DispatchRig['request']>[1] = {}): Promise<Worker> {
  await rig.request(['a'], parts);
  const worker = rig.worker({ provider });
  await worker.workUntil('it to be unknown', async () => await rig.allIn('unknown'));
  return worker;
}

/** Lets time pass for `a` without waiting for it. */
async function pass(minutes: number): Promise<void> {
  const back = `make_interval(mins => ${minutes})`;
  await rig.query(`UPDATE attempts SET started_at = started_at - ${back}`);
  await rig.query(`UPDATE evidence SET at = at - ${back}`);
  await rig.query(`UPDATE operations SET unknown_since = unknown_since - ${back}, resolve_at = resolve_at - ${back}`);
}

async function steps(): Promise<string[]> {
  const rows = await rig.query<{ said: string }>(
    `SELECT step || ' ' || outcome AS said FROM evidence ORDER BY evidence_id`,
  );
  return rows.map((row) => row.said);
}

const resolvedBy = async (): Promise<string | null | undefined> =>
  (await rig.query<{ by: string | null }>('SELECT resolved_by AS by FROM operations'))[0]?.by;

describe('the same key again', () => {
  it('resolves with the very bytes of the first call', async () => {
    const provider = answering({ key: KEY }, AMBIGUOUS);
    const worker = await unknown(provider);
    await worker.resolveOnce();
    expect(await rig.operation('a')).toMatchObject({ state: 'accepted', effect_id: 'effect', claim_seq: '3' });
    expect(await resolvedBy()).toBe('replay');
    expect(provider.hashes).toHaveLength(2);
    expect(new Set(provider.hashes).size).toBe(1);
    expect(await rig.attempts('a')).toMatchObject([{ outcome: 'ambiguous' }, { outcome: 'accepted' }]);
    expect(await rig.eventsOf('a')).toEqual(['operation.unknown', 'operation.resolved']);
    expect(await steps()).toEqual(['replay accepted']);
  });

  it('is waited for while the first call is still under way', async () => {
    const provider = answering({ key: KEY }, AMBIGUOUS, CONCURRENT);
    const worker = await unknown(provider);
    await worker.resolveOnce();
    await worker.resolveOnce();
    expect(provider.calls).toHaveLength(2);
    await pass(1);
    await worker.resolveOnce();
    expect(await rig.operation('a')).toMatchObject({ state: 'accepted' });
    expect(await steps()).toEqual(['replay concurrent', 'replay accepted']);
  });

  it.each<CallOutcome>([
    { kind: 'rejected', what: 'message', code: 'http-422', diagnostic: 'no' },
    { kind: 'duplicate', code: 'http-400', diagnostic: 'seen' },
    { kind: 'key-mismatch', code: 'http-409', diagnostic: 'other bytes' },
  ])(
    'that is answered with $kind says nothing of the first call: it stays unknown, and a person decides',
    async (said) => {
      const provider = answering({ key: KEY }, AMBIGUOUS, said);
      const worker = await unknown(provider);
      await worker.resolveOnce();
      await worker.resolveOnce();
      expect(await rig.operation('a')).toMatchObject({ state: 'unknown' });
      expect(await steps()).toEqual([`replay ${said.kind}`, 'policy hold']);
      expect(await rig.eventsOf('a')).toEqual(['operation.unknown', 'operation.unknown']);
      await pass(10);
      await worker.resolveOnce();
      expect(provider.calls).toHaveLength(2);
    },
  );

  it('is not used when the window is over', async () => {
    const provider = answering({ key: KEY }, AMBIGUOUS);
    const worker = await unknown(provider);
    await pass(23 * 60);
    await worker.resolveOnce();
    expect(provider.calls).toHaveLength(1);
    expect(await steps()).toEqual(['policy hold']);
  });

  it('is not used with another credential', async () => {
    const provider = answering({ key: KEY }, AMBIGUOUS);
    const worker = await unknown(provider);
    provider.account = 'account-2';
    await worker.resolveOnce();
    expect(provider.calls).toHaveLength(1);
    expect(await rig.operation('a')).toMatchObject({ state: 'unknown' });
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['the recipient is suppressed by then', async () => await rig.suppress('a'), 'suppressed'],
    [
      'the deadline has passed',
      async () => await rig.query(`UPDATE operations SET deadline = now() - interval '1 second'`),
      'expired',
    ],
    [
      'an approval was withdrawn',
      async () => await rig.query(`UPDATE operations SET approval_object = 'offer', approval_revision = 1`),
      'not-approved',
    ],
    [
      'the request is not the same any more',
      async () =>
        await rig.query(
          `UPDATE operation_requests SET request = '{"to":"a@example.com","subject":"other","text":"x"}'`,
        ),
      'definition-changed',
    ],
  ])('is not used when %s, since it might be the first call that arrives', async (_label, change, outcome) => {
    const provider = answering({ key: KEY }, AMBIGUOUS);
    const worker = await unknown(provider);
    await change();
    await worker.resolveOnce();
    expect(provider.calls).toHaveLength(1);
    expect(await steps()).toEqual([`replay ${outcome}`]);
    expect(await rig.attempts('a')).toHaveLength(1);
  });

  it('that is lost with its worker is tried again by another, and its late answer is evidence', async () => {
    const provider = answering({ key: KEY }, AMBIGUOUS);
    const worker = await unknown(provider);
    using gate = gateAt('resolve.after-call');
    const late = worker.resolveOnce();
    await gate.reached;
    await rig.query(`UPDATE operations SET lease_until = now() - interval '1 second'`);
    expect(await rig.rescue()).toEqual({ queued: 0, unknown: 0, dead: 0, released: 1 });
    expect(await rig.attempts('a')).toMatchObject([{ outcome: 'ambiguous' }, { outcome: 'lost' }]);
    gate.open();
    await late;
    expect(worker.claimLost).toEqual(['resolve']);
    expect(await rig.operation('a')).toMatchObject({ state: 'accepted' });
    expect(await resolvedBy()).toBe('late-result');
    expect(await rig.eventsOf('a')).toEqual(['operation.unknown', 'operation.resolved']);
  });
});

describe('a lookup', () => {
  it('is made at the smallest age, twice that and four times that', async () => {
    const provider = answering({ lookup: LOOKUP }, AMBIGUOUS);
    const worker = await unknown(provider);
    for (const expected of [0, 1, 2, 2, 3, 3]) {
      await worker.resolveOnce();
      expect(provider.lookups).toHaveLength(expected);
      await pass(10);
    }
    expect(await steps()).toEqual(['lookup miss', 'lookup miss', 'lookup miss', 'policy hold']);
    expect(provider.calls).toHaveLength(1);
  });

  it('that finds it resolves, with the id that the provider has given', async () => {
    const provider = answering({ lookup: LOOKUP }, AMBIGUOUS);
    provider.answerLookup = () => HIT;
    const worker = await unknown(provider);
    await pass(10);
    await worker.resolveOnce();
    expect(await rig.operation('a')).toMatchObject({ state: 'accepted', effect_id: 'found' });
    expect(await resolvedBy()).toBe('lookup');
    expect(provider.lookups).toMatchObject([{ recipient: 'a@example.com', subject: 'For a' }]);
  });

  it.each(['delivered', 'bounced', 'complained', 'rejected'] as const)('tells what became of it: %s', async (state) => {
    const provider = answering({ lookup: LOOKUP }, AMBIGUOUS);
    provider.answerLookup = () => ({ ...HIT, state });
    const worker = await unknown(provider);
    await pass(10);
    await worker.resolveOnce();
    expect(await rig.operation('a')).toMatchObject({ state });
    expect(await rig.eventsOf('a')).toEqual(['operation.unknown', 'operation.resolved', `operation.${state}`]);
  });

  it('that misses lets the policy resend while a later mail is visible, with the same bytes', async () => {
    const provider = answering({ lookup: LOOKUP, receipt: RECEIPT }, AMBIGUOUS);
    const worker = await unknown(provider, { onUnknown: 'resend' });
    const { operation_id: id } = await rig.operation('a');
    provider.answerLookup = ({ reference }) => (reference === id ? { ...HIT, kind: 'miss' } : HIT);
    await lookUpThrice(provider, worker);
    expect(await steps()).toEqual(['lookup miss', 'lookup miss', 'lookup miss-with-canary', 'policy resend']);
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(new Set([provider.hashes[0], provider.hashes[2]]).size).toBe(1);
    expect(provider.calls).toHaveLength(3);
  });

  it.each<[string, Parameters<DispatchRig['request']>[1], boolean]>([
    ['without a visible canary', { onUnknown: 'resend' }, false],
    ['where the policy holds', { onUnknown: 'hold' }, true],
  ])('that misses resends nothing %s', async (_label, parts, canaryVisible) => {
    const provider = answering({ lookup: LOOKUP, receipt: RECEIPT }, AMBIGUOUS);
    const worker = await unknown(provider, parts);
    const { operation_id: id } = await rig.operation('a');
    provider.answerLookup = ({ reference }) =>
      reference === id || !canaryVisible ? { kind: 'miss', code: 'http-200', diagnostic: 'none' } : HIT;
    await lookUpThrice(provider, worker);
    expect(await rig.operation('a')).toMatchObject({ state: 'unknown' });
    expect(provider.calls).toHaveLength(2);
  });
});

describe('the policy', () => {
  it.each<['hold' | 'resend' | 'assume-sent', string, string | null]>([
    ['hold', 'unknown', null],
    ['assume-sent', 'accepted', 'policy'],
    ['resend', 'queued', 'policy'],
  ])('%s decides when no more evidence is expected', async (onUnknown, state, by) => {
    const provider = answering({ receipt: RECEIPT }, AMBIGUOUS);
    const worker = await unknown(provider, { onUnknown });
    await worker.resolveOnce();
    expect(await rig.operation('a')).toMatchObject({ state: 'unknown' });
    await pass(61);
    await worker.resolveOnce();
    expect(await rig.operation('a')).toMatchObject({ state });
    expect(await resolvedBy()).toBe(by);
    expect(await steps()).toEqual([`policy ${onUnknown}`]);
  });
});

describe('a request that is frozen', () => {
  it('is sent again as it was, whatever the configuration says by then', async () => {
    const provider = answering({}, THROTTLED);
    provider.shape = { stream: 'one' };
    await rig.request(['a']);
    const worker = rig.worker({ provider });
    await worker.workUntil('the first call', () => provider.calls.length === 1);
    provider.shape = { stream: 'two' };
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(provider.hashes).toHaveLength(2);
    expect(new Set(provider.hashes).size).toBe(1);
  });

  it('ends as dead when it could only be sent with other bytes, and is not sent', async () => {
    const provider = answering({}, { ...THROTTLED, retryAfterMs: 200 });
    await rig.request(['a']);
    const worker = rig.worker({ provider });
    await worker.workUntil('the first call', () => provider.calls.length === 1);
    await rig.query(
      `UPDATE operation_requests SET request = '{"to":"a@example.com","from":"news@einmal.example","subject":"x","text":"y"}'`,
    );
    await worker.workUntil('it to be dead', async () => await rig.allIn('dead'));
    expect(await rig.operation('a')).toMatchObject({
      state_reason: 'definition-changed: what would be sent is not what the first attempt sent',
    });
    expect(provider.calls).toHaveLength(1);
    expect(await rig.eventsOf('a')).toEqual(['operation.dead']);
  });
});

describe('a provider that refuses the account', () => {
  const ACCOUNT: CallOutcome = { kind: 'account', code: 'http-401', diagnostic: 'the token is not valid' };

  it('stops for every process, burns no attempt, and goes on after one operation has tried it', async () => {
    const provider = answering({}, ACCOUNT, ACCOUNT);
    await rig.request(['a', 'b', 'c'], { maxAttempts: 1 });
    const worker = rig.worker({ provider: new ScriptedProvider(() => ACCOUNT, 1), accountPauseSeconds: 60 });
    await worker.workUntil('the stop', async () => (await rig.query('SELECT FROM provider_stops')).length === 1);
    await eventually('all to be given back', 10_000, async () => await rig.allIn('queued'));

    const other = rig.worker({ provider, accountPauseSeconds: 60 });
    await other.pipeline.runOnce();
    expect(provider.calls).toHaveLength(0);
    await letTry();
    await other.workUntil('one try', () => provider.calls.length === 1);
    await eventually('it to be given back', 10_000, async () => await rig.allIn('queued'));
    expect(await rig.query('SELECT stops FROM provider_stops')).toEqual([{ stops: 2 }]);

    const healed = rig.worker({ provider: answering({}) });
    await letTry();
    await healed.workUntil('all to be accepted', async () => await rig.allIn('accepted'));
    expect(await rig.query('SELECT FROM provider_stops')).toEqual([]);
    const { attempts } = await rig.operation('a');
    expect(attempts).toBe(1);
    const types = (await rig.eventsOf()).filter((type) => type.startsWith('provider'));
    expect(types).toEqual(['provider.stopped', 'provider.resumed']);
  });

  it('is tried by one operation at a time, whoever tries', async () => {
    await rig.query(
      `INSERT INTO provider_stops (provider, code, diagnostic, until) VALUES ('main', 'http-401', 'no', now())`,
    );
    await rig.request(['a', 'b', 'c']);
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const slow = new ScriptedProvider(async () => {
      await opened;
      return ACCEPTED;
    });
    const workers = [rig.worker({ provider: slow }), rig.worker({ provider: slow })];
    for (const worker of workers) await worker.pipeline.runOnce();
    for (const worker of workers) await worker.pipeline.runOnce();
    await eventually('the try', 10_000, () => slow.calls.length === 1);
    expect(await rig.states()).toEqual({ calling: 1, queued: 2 });
    open();
    await workers[0]?.workUntil('all to be accepted', async () => await rig.allIn('accepted'));
  });
});

/** Three lookups; a later mail is accepted before the last one. */
async function lookUpThrice(provider: ScriptedProvider, worker: Worker): Promise<void> {
  await pass(10);
  await worker.resolveOnce();
  await pass(10);
  await worker.resolveOnce();
  await rig.request(['canary']);
  await worker.workUntil('the canary', async () => (await rig.operation('canary')).state === 'accepted');
  await rig.query(`UPDATE attempts SET started_at = started_at - interval '20 minutes' WHERE outcome = 'ambiguous'`);
  await rig.query(`UPDATE operations SET resolve_at = '-infinity' WHERE state = 'unknown'`);
  await worker.resolveOnce();
  expect(provider.lookups.length).toBeGreaterThanOrEqual(3);
  await worker.resolveOnce();
}

/** Lets the pause of a stopped provider be over. */
async function letTry(): Promise<void> {
  await rig.query(`UPDATE provider_stops SET until = now() - interval '1 second'`);
}
