import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createApiGround, type Answer, type ApiGround } from '../integration/api-ground.ts';
import { startDispatchProcess, untilNoticed } from '../support/dispatch-process.ts';
import type { DispatchRig } from '../support/dispatch-rig.ts';
import { eventually } from '../support/eventually.ts';
import { createPeer } from '../support/peer.ts';

/** Whoever asks again is told what became of it, and nothing happens twice: counted at the destination. */

let ground: ApiGround;
let rig: DispatchRig;

beforeAll(async () => {
  ground = await createApiGround(inject('databaseUrl'), inject('templateDatabase'));
  rig = ground.rig;
});
afterAll(async () => await ground.tearDown());
beforeEach(async () => {
  await rig.sink.release();
  await rig.reset();
});

const REQUEST = { to: 'ada@example.com', subject: 'Your order', text: 'Thank you.' };
const MAIL = { kind: 'email', request: REQUEST } as const;
const OTHER = { kind: 'email', request: { ...REQUEST, text: 'Something else.' } } as const;
const TIMES = 200;

const ask = async (body: object = MAIL, key = 'a'): Promise<Answer> =>
  await ground.post('/v1/operations', body, { headers: { 'idempotency-key': key } });
const askAtOnce = async (): Promise<Answer[]> =>
  await Promise.all(Array.from({ length: TIMES }, async () => await ask()));
const mails = async (): Promise<number> => (await rig.sink.stats()).accepted;

const CALLED = `claim_seq = 1, attempts = 1`;
const LEASED = `claimed_by = gen_random_uuid(), lease_until = now() + interval '1 minute'`;
/** Each state with what its row must have. */
const STATES: readonly [state: string, columns: string][] = [
  ['queued', 'claim_seq = 0'],
  ['awaiting-approval', `approval_object = 'offer', approval_revision = 1`],
  ['claimed', `claim_seq = 1, ${LEASED}`],
  ['calling', `${CALLED}, ${LEASED}`],
  ['unknown', CALLED],
  ['accepted', CALLED],
  ['delivered', CALLED],
  ['bounced', CALLED],
  ['complained', CALLED],
  ['suppressed', `state_reason = 'all: unsubscribed'`],
  ['rejected', `state_reason = 'no such user'`],
  ['expired', `state_reason = 'deadline'`],
  ['cancelled', `state_reason = 'order was cancelled'`],
  ['dead', `state_reason = 'attempts used up'`],
];

describe.each(STATES)('one key in the state %s', (state, columns) => {
  beforeEach(async () => {
    await ask();
    await rig.query(`UPDATE operations SET state = '${state}', ${columns}`);
  });

  it(`is answered by that state, in sequence and ${TIMES} times at once, and nothing is done`, async () => {
    const answers = [await ask(), await ask(), ...(await askAtOnce())];
    expect(new Set(answers.map(({ body }) => body['state']))).toEqual(new Set([state]));
    expect(answers.every(({ status }) => status === 200 || status === 422)).toBe(true);
    expect(await rig.states()).toEqual({ [state]: 1 });
    expect(await mails()).toBe(0);
  });

  it('is a conflict for another payload, and goes on as it was', async () => {
    expect(await ask(OTHER)).toMatchObject({ status: 422, body: { type: '/problems/conflicted' } });
    expect(await rig.states()).toEqual({ [state]: 1 });
  });
});

describe('an operation that is asked for again', () => {
  it(`${TIMES} times at once while it is done has one effect`, async () => {
    const worker = rig.worker();
    const asked = askAtOnce();
    await worker.workUntil('it to be accepted', async () => (await rig.states())['accepted'] === 1);
    const answers = await asked;
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(await mails()).toBe(1);
  });

  it('while its call takes long is told that it is being called, and has one effect', async () => {
    await ask();
    await rig.sink.script([{ phase: 'dot', action: { do: 'stall' } }]);
    const worker = rig.worker({ timeoutMs: 20_000 });
    await worker.pipeline.runOnce();
    await eventually('the call', 10_000, async () => (await rig.sink.stats()).stalled === 1);
    expect(await ask()).toMatchObject({ status: 200, body: { state: 'calling', attempts: 1 } });
    await rig.sink.release();
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(await ask()).toMatchObject({ status: 200, body: { state: 'accepted', attempts: 1 } });
    expect(await mails()).toBe(1);
  });

  it('after the destination accepted and before we recorded it is told that nobody knows', async () => {
    await ask();
    const process = await startDispatchProcess(rig, {
      kafkaBrokers: '127.0.0.1:9',
      fault: 'dispatch.after-call:kill',
    });
    try {
      expect(await process.exited).toBe('SIGKILL');
      await untilNoticed(rig, ['einmal api']);
    } finally {
      await process.discard();
    }
    await rig.endLeases();
    await rig.rescue();
    expect(await ask()).toMatchObject({ status: 200, body: { state: 'unknown', attempts: 1 } });
    const worker = rig.worker();
    await worker.pipeline.runOnce();
    await worker.resolveOnce();
    expect(await mails()).toBe(1);
  });

  it('after its key was forgotten is too old, and is not done', async () => {
    await ask();
    const { operation_id: id } = await rig.operation('a');
    await rig.query('DELETE FROM operations');
    await rig.query(
      `INSERT INTO operation_tombstones (tenant_id, operation_id, state, ended_at) VALUES ('demo', $1, 'accepted', now())`,
      [id],
    );
    expect(await ask()).toMatchObject({ status: 422, body: { type: '/problems/too-old-to-deduplicate' } });
    const worker = rig.worker();
    await worker.pipeline.runOnce();
    expect(await mails()).toBe(0);
  });

  it('under another key is another one: two intended notices are two', async () => {
    await ask(MAIL, 'order-17:first');
    await ask(MAIL, 'order-17:second');
    const worker = rig.worker();
    await worker.workUntil('both to be accepted', async () => await rig.allIn('accepted'));
    expect(await mails()).toBe(2);
  });
});

describe('a process that dies', () => {
  /** The peer is told with the same id each time: an event counts once. */
  it.each([
    ['after the insert of the operation, before the outbox row', 'inbox.after-handle'],
    ['before the commit', 'inbox.before-commit'],
    ['before the offset commit', 'inbox.after-commit'],
    ['before the external call', 'dispatch.before-call'],
    ['after the external call', 'dispatch.after-call'],
    ['after the record', 'record.after-commit'],
  ])('%s leaves one effect, and a peer that is told', async (_label, point) => {
    const topicPrefix = `t${randomBytes(4).toString('hex')}.`;
    const roles = ['consumer', 'relay', 'dispatcher', 'maintenance'] as const;
    const options = {
      kafkaBrokers: inject('kafkaBrokers'),
      topicPrefix,
      roles: [...roles],
      dispatch: { rescueSeconds: 1 },
      messaging: { sessionTimeoutSeconds: 6, rebalanceTimeoutSeconds: 12 },
    };
    const peer = await createPeer(inject('kafkaBrokers'), topicPrefix);
    const first = await startDispatchProcess(rig, { ...options, fault: `${point}:kill` });
    let next: typeof first | undefined;
    try {
      await first.ready();
      await peer.publish('einmal.operation.requested.v1', [{ operationKey: 'a', ...MAIL }]);
      expect(await first.exited).toBe('SIGKILL');
      await untilNoticed(rig, ['einmal api']);
      await rig.endLeases();
      await rig.query('UPDATE outbox_buckets SET lease_until = now()');
      await rig.query('UPDATE outbox_relays SET alive_until = now()');
      next = await startDispatchProcess(rig, options);
      await peer.listen();
      const ended = point === 'dispatch.before-call' || point === 'dispatch.after-call' ? 'unknown' : 'accepted';
      const told = (): Set<string> => new Set(peer.events.map(({ type }) => type));
      await eventually(`the peer to be told that it is ${ended}`, 60_000, () =>
        told().has(`einmal.operation.${ended}.v1`),
      );
      expect(told()).toEqual(new Set(['einmal.operation.queued.v1', `einmal.operation.${ended}.v1`]));
      expect(new Set(peer.events.map(({ type, id }) => `${type} ${id}`)).size).toBe(2);
      expect(await mails()).toBe(point === 'dispatch.before-call' ? 0 : 1);
    } finally {
      await first.discard();
      await next?.discard();
      await peer.close();
    }
  });
});
