import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CallOutcome } from '../../src/providers/provider.port.ts';
import {
  closeProviders,
  deliver,
  IMPATIENT_MS,
  kindOf,
  mailTo,
  PATIENT_MS,
  providerFor,
  settledStats,
  sinkWith,
  stopSinks,
} from '../support/sinks/provider-against-sink.ts';
import type { SinkPhase, SinkRule, SmtpSink } from '../support/sinks/smtp-sink.ts';

afterEach(closeProviders);
afterAll(stopSinks);

describe.each([
  ['with PIPELINING', ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'SIZE 10000']],
  ['without', ['8BITMIME', 'SMTPUTF8', 'SIZE 10000']],
])('SMTP provider against a server %s', (_label, extensions) => {
  let sink: SmtpSink;
  beforeAll(async () => {
    sink = await sinkWith({ extensions, keepRaw: 10 });
  });
  afterEach(async () => {
    await sink.release();
    await closeProviders();
    await settledStats(sink);
    await sink.reset();
  });

  async function oneTry(rules: readonly SinkRule[], timeoutMs: number): Promise<CallOutcome> {
    await sink.script(rules);
    const provider = providerFor(sink);
    const result = await deliver(provider, mailTo('jane@b.org'), timeoutMs);
    await provider.close();
    return result;
  }

  it('delivers the very bytes, once, and takes the queue id for the effect', async () => {
    const mail = mailTo('jane@b.org');
    const provider = providerFor(sink);
    const result = await deliver(provider, mail, PATIENT_MS);
    expect(result).toMatchObject({
      kind: 'accepted',
      code: 'smtp-250',
      effectId: expect.stringMatching(/^\d+-1$/) as string,
    });
    expect(await sink.counts()).toEqual(new Map([['<1@b.org>', 1]]));
    expect(await sink.recipients()).toEqual(new Map([['jane@b.org', 1]]));
    expect(await sink.hashes()).toEqual(
      new Map([['<1@b.org>', [createHash('sha256').update(mail.raw).digest('hex')]]]),
    );
    expect(await sink.raw('<1@b.org>')).toEqual(mail.raw);
  });

  it.each<[SinkPhase, string, number, number]>([
    ['connect', 'not-sent', 0, 0],
    ['ehlo', 'not-sent', 0, 0],
    ['mail', 'not-sent', 1, 0],
    ['rcpt', 'not-sent', 1, 0],
    ['data', 'not-sent', 1, 0],
    ['body', 'ambiguous', 1, 0],
    ['dot', 'ambiguous', 1, 0],
    ['accepted', 'ambiguous', 1, 1],
  ])('a connection lost at %s is %s', async (phase, kind, transactions, acceptedMails) => {
    for (const how of ['drop', 'reset'] as const) {
      const before = await settledStats(sink);
      const result = await oneTry([{ phase, action: { do: how } }], PATIENT_MS);
      const after = await settledStats(sink);
      expect([how, kindOf(result)]).toEqual([how, kind]);
      expect(after.connections - before.connections).toBe(1);
      expect(after.transactions - before.transactions).toBe(transactions);
      expect(after.accepted - before.accepted).toBe(acceptedMails);
    }
  });

  it.each<[SinkPhase, string]>([
    ['connect', 'not-sent'],
    ['ehlo', 'not-sent'],
    ['mail', 'not-sent'],
    ['rcpt', 'not-sent'],
    ['data', 'not-sent'],
    ['body', 'ambiguous'],
    ['dot', 'ambiguous'],
    ['accepted', 'ambiguous'],
  ])('silence at %s is %s, and nothing goes out afterwards unless it is ambiguous', async (phase, kind) => {
    const result = await oneTry([{ phase, action: { do: 'stall' } }], IMPATIENT_MS);
    expect(result).toMatchObject({ kind, code: 'timeout' });
    await sink.script([]);
    expect(await sink.release()).toBe(1);
    const stats = await settledStats(sink);
    expect(stats.transactions).toBeLessThanOrEqual(1);
    expect(stats.accepted).toBeLessThanOrEqual(kind === 'ambiguous' ? 1 : 0);
  });

  it.each<[SinkPhase, string, string]>([
    ['connect', '421 4.3.2 too many connections', 'throttled'],
    ['connect', '554 5.7.1 go away', 'account'],
    ['mail', '451 4.3.0 later', 'throttled'],
    ['mail', '550 5.1.8 no such domain', 'rejected message'],
    ['mail', '530 5.7.0 log in', 'account'],
    ['rcpt', '421 4.7.0 slow down', 'throttled'],
    ['rcpt', '452 4.2.2 mailbox full', 'throttled'],
    ['rcpt', '454 4.7.0 slow down', 'throttled'],
    ['rcpt', '550 5.1.1 unknown', 'rejected recipient'],
    ['rcpt', '553 5.1.3 what', 'rejected recipient'],
    ['rcpt', '554 5.7.1 relay access denied', 'account'],
    ['data', '451 4.3.0 later', 'throttled'],
    ['data', '554 5.6.0 no', 'rejected message'],
    ['body', '552 5.3.4 too much', 'rejected message'],
    ['dot', '451 4.3.0 later', 'throttled'],
    ['dot', '421 4.3.2 bye', 'throttled'],
    ['dot', '552 5.3.4 too big', 'rejected message'],
    ['dot', '554 5.7.1 spam', 'rejected message'],
    ['dot', 'hello?', 'ambiguous'],
  ])('at %s the answer "%s" is %s', async (phase, line, kind) => {
    const result = await oneTry([{ phase, action: { do: 'reply', line } }], PATIENT_MS);
    expect(kindOf(result)).toBe(kind);
    const stats = await settledStats(sink);
    expect(stats.accepted).toBe(0);
    expect(stats.transactions).toBe(phase === 'connect' ? 0 : 1);
  });

  it('uses a connection again after a mail and after a refusal, and opens another after silence', async () => {
    const provider = providerFor(sink);
    const { connections } = await sink.stats();
    await sink.script([
      { phase: 'rcpt', recipient: 'unknown', action: { do: 'reply', line: '550 5.1.1 unknown' } },
      { phase: 'mail', nth: 4, action: { do: 'reply', line: '550 5.1.8 no' } },
      { phase: 'data', recipient: 'slow', action: { do: 'stall' } },
    ]);
    const results: string[] = [];
    for (const [n, to] of [
      'a@b.org',
      'unknown@b.org',
      'b@b.org',
      'c@b.org',
      'd@b.org',
      'slow@b.org',
      'e@b.org',
    ].entries()) {
      results.push(kindOf(await deliver(provider, mailTo(to, n), to.startsWith('slow') ? IMPATIENT_MS : PATIENT_MS)));
    }
    expect(results).toEqual([
      'accepted',
      'rejected recipient',
      'accepted',
      'rejected message',
      'accepted',
      'not-sent',
      'accepted',
    ]);
    expect((await sink.stats()).connections - connections).toBe(2);
    expect(await sink.counts()).toEqual(
      new Map(['<0@b.org>', '<2@b.org>', '<4@b.org>', '<6@b.org>'].map((id) => [id, 1])),
    );
  });

  it('lets later deliveries wait for the connection, but no longer than they may', async () => {
    await sink.script([{ phase: 'rcpt', recipient: 'slow', action: { do: 'stall' } }]);
    const provider = providerFor(sink);
    const slow = deliver(provider, mailTo('slow@b.org', 1), PATIENT_MS);
    const hasty = await deliver(provider, mailTo('a@b.org', 2), IMPATIENT_MS);
    const patient = deliver(provider, mailTo('b@b.org', 3), PATIENT_MS);
    expect(hasty).toMatchObject({ kind: 'not-sent', code: 'timeout' });
    await sink.release();
    expect((await slow).kind).toBe('accepted');
    expect((await patient).kind).toBe('accepted');
    expect(await sink.counts()).toEqual(new Map(['<1@b.org>', '<3@b.org>'].map((id) => [id, 1])));
  });

  it('takes the shorter of the two limits, and nothing at no time', async () => {
    await sink.script([{ phase: 'dot', action: { do: 'stall' } }]);
    const provider = providerFor(sink, { timeoutMs: IMPATIENT_MS });
    expect(await deliver(provider, mailTo('a@b.org'), PATIENT_MS)).toMatchObject({
      kind: 'ambiguous',
      code: 'timeout',
    });
    expect(await deliver(provider, mailTo('a@b.org'), 0)).toMatchObject({ kind: 'not-sent', code: 'timeout' });
    expect(await deliver(provider, mailTo('a@b.org'), Number.NaN)).toMatchObject({ kind: 'not-sent', code: 'timeout' });
  });

  it('sends international local parts with SMTPUTF8', async () => {
    expect((await deliver(providerFor(sink), mailTo('jörg@b.org'), PATIENT_MS)).kind).toBe('accepted');
    expect(await sink.recipients()).toEqual(new Map([['jörg@b.org', 1]]));
  });

  it('does not start what the server announces as too large', async () => {
    const mail = { ...mailTo('a@b.org'), raw: Buffer.alloc(10_001, 0x78) };
    expect(await deliver(providerFor(sink), mail, PATIENT_MS)).toMatchObject({
      kind: 'rejected',
      what: 'message',
      code: 'too-large',
    });
    expect((await sink.stats()).transactions).toBe(0);
  });

  it.each([
    ['a@b.org\r\nRCPT TO:<x@y.org', 'news@b.org', 'recipient'],
    ['a@b.org> NOTIFY=NEVER <', 'news@b.org', 'recipient'],
    ['', 'news@b.org', 'recipient'],
    ['a@b.org', 'news@b.org\r\nRSET', 'message'],
  ])('never puts %j from %j on the wire', async (to, from, what) => {
    const { connections } = await sink.stats();
    const mail = { ...mailTo('a@b.org'), envelope: { from, to } };
    expect(await deliver(providerFor(sink), mail, PATIENT_MS)).toMatchObject({ kind: 'rejected', what });
    expect((await sink.stats()).connections).toBe(connections);
  });

  it('tells no address', async () => {
    const line = '550 5.1.1 <jane@b.org>: jane is unknown here, ask postmaster@b.org';
    const result = await oneTry([{ phase: 'rcpt', action: { do: 'reply', line } }], PATIENT_MS);
    expect(result.diagnostic).toBe('550 5.1.1 <address>: <address> is unknown here, ask <address>');
  });

  it('closes after what is in flight, and takes nothing more', async () => {
    await sink.script([{ phase: 'dot', action: { do: 'stall' } }]);
    const provider = providerFor(sink, { connections: 1 });
    const inFlight = deliver(provider, mailTo('a@b.org', 1), PATIENT_MS);
    const waiting = deliver(provider, mailTo('b@b.org', 2), PATIENT_MS);
    const closing = provider.close();
    expect(await waiting).toMatchObject({ kind: 'not-sent', code: 'closed' });
    expect(await deliver(provider, mailTo('c@b.org', 3), PATIENT_MS)).toMatchObject({
      kind: 'not-sent',
      code: 'closed',
    });
    await vi.waitFor(async () => expect(await sink.release()).toBe(1), { timeout: 10_000 });
    await closing;
    expect((await inFlight).kind).toBe('accepted');
    expect((await settledStats(sink)).accepted).toBe(1);
  });

  it('does not wait for ever when it closes', async () => {
    await sink.script([{ phase: 'dot', action: { do: 'stall' } }]);
    const provider = providerFor(sink);
    const inFlight = deliver(provider, mailTo('a@b.org'), PATIENT_MS);
    await vi.waitFor(async () => expect((await sink.stats()).stalled).toBe(1), { timeout: 10_000 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const closing = provider.close();
    vi.advanceTimersByTime(5000);
    vi.useRealTimers();
    await closing;
    expect(await inFlight).toMatchObject({ kind: 'ambiguous', code: 'closed' });
  });

  it('delivers many over several connections, each once', async () => {
    await sink.reset();
    const provider = providerFor(sink, { connections: 8 });
    const { connections } = await sink.stats();
    const numbers = Array.from({ length: 300 }, (_, n) => n);
    const results = await Promise.all(
      numbers.map(async (n) => await deliver(provider, mailTo(`u${n}@b.org`, n), PATIENT_MS)),
    );
    expect(new Set(results.map((result) => result.kind))).toEqual(new Set(['accepted']));
    expect(await sink.stats()).toMatchObject({
      accepted: 300,
      distinct: 300,
      doubled: 0,
      transactions: 300,
      connections: connections + 8,
    });
  });
});
