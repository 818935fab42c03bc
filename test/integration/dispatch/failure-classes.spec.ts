import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import { eventually } from '../../support/eventually.ts';

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

describe('what the server refuses for good', () => {
  it('is rejected, once and for all', async () => {
    await rig.request(['gone', 'there']);
    await rig.sink.script([
      { phase: 'rcpt', recipient: 'gone', action: { do: 'reply', line: '550 5.1.1 no such user' } },
    ]);
    const worker = rig.worker();
    await worker.workUntil('both to end', async () => await rig.allIn('rejected', 'accepted'));
    expect(await rig.operation('gone')).toMatchObject({ state: 'rejected', attempts: 1 });
    expect(await rig.attempts('gone')).toMatchObject([{ outcome: 'rejected', code: 'smtp-550' }]);
    expect(await rig.eventsOf('gone')).toEqual(['operation.rejected']);
    expect(await rig.sink.recipients()).toEqual(new Map([['there@example.com', 1]]));
  });

  it('spoils nothing for the others of its batch', async () => {
    const broken = { to: 'broken@example.com', subject: '{{ "a" | no_such_filter }}', text: 'x' };
    await rig.request(names(98));
    await rig.request(['gone']);
    await rig.request(['broken'], { request: broken });
    await rig.sink.script([
      { phase: 'rcpt', recipient: 'gone', action: { do: 'reply', line: '550 5.1.1 no such user' } },
    ]);
    const worker = rig.worker();
    await worker.workUntil('all to end', async () => await rig.allIn('rejected', 'accepted'));
    expect(await rig.states()).toEqual({ accepted: 98, rejected: 2 });
    expect(await rig.sink.stats()).toMatchObject({ accepted: 98, distinct: 98, doubled: 0 });
    expect(await rig.attempts('broken')).toEqual([]);
    expect((await rig.operation('broken')).state_reason).toMatch(/^subject: /);
  });
});

describe('what the server puts off', () => {
  it.each([
    ['rcpt', '451 4.7.1 greylisted'],
    ['data', '454 4.7.0 too fast'],
    ['dot', '452 4.2.2 mailbox full'],
    ['mail', '421 4.7.0 try again later'],
    ['connect', '421 4.3.2 shutting down'],
  ] as const)('at %s with %s is tried again and counts no attempt', async (phase, line) => {
    await rig.request(['a'], { maxAttempts: 2 });
    await rig.sink.script([{ phase, times: 4, action: { do: 'reply', line } }]);
    // More connections than failures in a row: the lane does not rest.
    const worker = rig.worker({ connections: 5 });
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'), 30_000);
    expect(await rig.operation('a')).toMatchObject({ attempts: 1 });
    expect((await rig.attempts('a')).map((each) => each.outcome)).toEqual([
      ...Array.from({ length: 4 }, () => 'throttled'),
      'accepted',
    ]);
    expect(await rig.sink.stats()).toMatchObject({ accepted: 1, doubled: 0 });
  });

  it('rests the lane when the server puts off one after the other', async () => {
    await rig.request(names(50));
    await rig.sink.script([{ phase: 'mail', action: { do: 'reply', line: '450 4.7.1 rate exceeded' } }]);
    const worker = rig.worker({ connections: 2 });
    await worker.workUntil('the pause', () => worker.lane.paused());
    expect(worker.logs.map((log) => log.event)).toContain('dispatch.lane-stopped');
    await eventually('all to be given back', 10_000, async () => await rig.allIn('queued'));
    await rig.sink.script([]);
    await worker.workUntil('all to be accepted', async () => await rig.allIn('accepted'), 30_000);
    expect(await rig.sink.stats()).toMatchObject({ accepted: 50, doubled: 0 });
  });
});

describe('a server that is not there', () => {
  it('rests the lane; nothing is burnt, and all is sent when it is back', async () => {
    await rig.request(names(60), { maxAttempts: 3 });
    await rig.sink.script([{ phase: 'connect', action: { do: 'reset' } }]);
    const worker = rig.worker({ connections: 2 });
    let pauses = 0;
    await worker.workUntil('three pauses', () => {
      pauses = worker.logs.filter((log) => log.event === 'dispatch.lane-stopped').length;
      return pauses >= 3;
    });
    expect(worker.lane.paused()).toBe(true);
    expect(Object.keys(await rig.states())).not.toContain('dead');
    const [most] = await rig.query<{ most: number }>('SELECT max(attempts)::integer AS most FROM operations');
    expect(most?.most).toBeLessThan(3);
    await rig.sink.script([]);
    await worker.workUntil('all to be accepted', async () => await rig.allIn('accepted'), 30_000);
    expect(await rig.sink.stats()).toMatchObject({ accepted: 60, distinct: 60, doubled: 0 });
  });

  it('ends what has used up its attempts as dead, with an event', async () => {
    await rig.request(['a'], { maxAttempts: 2 });
    await rig.sink.script([{ phase: 'connect', action: { do: 'drop' } }]);
    const worker = rig.worker({ connections: 4 });
    await worker.workUntil('it to be dead', async () => await rig.allIn('dead'));
    expect((await rig.attempts('a')).map((each) => each.outcome)).toEqual(['not-sent', 'not-sent']);
    expect(await rig.eventsOf('a')).toEqual(['operation.dead']);
  });
});

describe('a server that takes the mail and is not heard of again', () => {
  it.each([
    ['drops the connection', { do: 'drop' }],
    ['resets the connection', { do: 'reset' }],
    ['is silent past the timeout', { do: 'stall' }],
  ] as const)('%s: the operation is unknown, and there is no second DATA', async (_what, action) => {
    await rig.request(['a', 'b']);
    await rig.sink.script([{ phase: 'accepted', recipient: 'a', action }]);
    const worker = rig.worker({ timeoutMs: 400 });
    await worker.workUntil('both to end', async () => await rig.allIn('unknown', 'accepted'));
    // The next passes find nothing to do.
    for (let pass = 0; pass < 5; pass++) await worker.pipeline.runOnce();
    expect((await rig.operation('a')).state).toBe('unknown');
    expect(await rig.attempts('a')).toMatchObject([{ outcome: 'ambiguous' }]);
    expect(await rig.eventsOf('a')).toEqual(['operation.unknown']);
    expect(await rig.sink.stats()).toMatchObject({ goAheads: 2, accepted: 2, doubled: 0 });
  });
});

describe('an account that is refused', () => {
  it.each([
    ['auth', '535 5.7.8 wrong credentials', 'smtp-535'],
    ['mail', '530 5.7.0 authentication required', 'smtp-530'],
  ] as const)('at %s with %s stops the lane, says so and burns nothing', async (phase, line, code) => {
    await rig.request(names(30), { maxAttempts: 1 });
    await rig.sink.script([{ phase: phase === 'auth' ? 'ehlo' : phase, action: { do: 'reply', line } }]);
    const worker = rig.worker({ connections: 2 });
    await worker.workUntil('the stop', () => worker.lane.paused());
    await eventually('all to be given back', 10_000, async () => await rig.allIn('queued'));
    await worker.pipeline.runOnce();
    const said = worker.logs.find((log) => log.event === 'dispatch.lane-stopped');
    expect(said?.fields).toMatchObject({ provider: 'main', why: 'account', code });
    expect(await rig.states()).toEqual({ queued: 30 });
    const [burnt] = await rig.query<{ n: number }>('SELECT sum(attempts)::integer AS n FROM operations');
    expect(burnt?.n).toBe(0);
    expect((await rig.sink.stats()).accepted).toBe(0);
  });
});
