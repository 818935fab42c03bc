import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { SmtpConfig } from '../../src/providers/smtp/smtp-config.ts';
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
import type { SmtpSink } from '../support/sinks/smtp-sink.ts';

afterEach(closeProviders);
afterAll(stopSinks);

async function kindAndCode(sink: SmtpSink, change: Partial<SmtpConfig>): Promise<string> {
  const result = await deliver(providerFor(sink, change), mailTo('a@b.org'), PATIENT_MS);
  return `${result.kind} ${result.code}`;
}

describe('SMTP provider and its server', () => {
  it('opens connections only when the first mail comes', async () => {
    const sink = await sinkWith({});
    const provider = providerFor(sink, { connections: 5 });
    expect(provider).toMatchObject({ name: 'sink', concurrency: 5 });
    expect((await sink.stats()).connections).toBe(0);
    for (const n of [1, 2, 3]) await deliver(provider, mailTo('a@b.org', n), PATIENT_MS);
    expect((await sink.stats()).connections).toBe(1);
  });

  it('gets over a server that went away while the connection was idle', async () => {
    const first = await sinkWith({});
    const provider = providerFor(first);
    expect((await deliver(provider, mailTo('a@b.org', 1), PATIENT_MS)).kind).toBe('accepted');
    await first.kill();
    expect((await deliver(provider, mailTo('a@b.org', 2), PATIENT_MS)).kind).toBe('not-sent');
    const second = await sinkWith({ port: first.port });
    const result = await deliver(provider, mailTo('a@b.org', 3), PATIENT_MS);
    expect(result.kind).toBe('accepted');
    expect(await second.counts()).toEqual(new Map([['<3@b.org>', 1]]));
  });

  it('is not-sent where nobody listens or no such host is', async () => {
    const sink = await sinkWith({});
    await sink.stop();
    expect(await deliver(providerFor(sink), mailTo('a@b.org'), PATIENT_MS)).toMatchObject({
      kind: 'not-sent',
      code: 'ECONNREFUSED',
    });
    const nowhere = providerFor({ host: 'no-such-host.invalid', port: 25 });
    expect((await deliver(nowhere, mailTo('a@b.org'), PATIENT_MS)).kind).toBe('not-sent');
  });

  it('stands a server that lets DATA pass after a refused recipient, and gives nobody anything', async () => {
    const sink = await sinkWith({});
    await sink.script([
      { phase: 'rcpt', nth: 1, action: { do: 'reply', line: '550 5.1.1 unknown' } },
      { phase: 'data', nth: 1, action: { do: 'reply', line: '354 go on' } },
    ]);
    const provider = providerFor(sink);
    expect(kindOf(await deliver(provider, mailTo('jane@b.org', 1), PATIENT_MS))).toBe('rejected recipient');
    expect(kindOf(await deliver(provider, mailTo('jane@b.org', 2), PATIENT_MS))).toBe('accepted');
    expect(await sink.counts()).toEqual(new Map([['<2@b.org>', 1]]));
  });

  it('takes back what it has not sent when the time is over', async () => {
    const sink = await sinkWith({});
    await sink.script([{ phase: 'body', action: { do: 'stall' } }]);
    // More than the buffers of both ends hold, so that the end of the mail is still here.
    const mail = { ...mailTo('a@b.org'), raw: Buffer.alloc(32 * 1024 * 1024, `${'x'.repeat(76)}\r\n`) };
    expect(await deliver(providerFor(sink), mail, 1000)).toMatchObject({ kind: 'ambiguous', code: 'timeout' });
    await sink.release();
    expect(await settledStats(sink)).toMatchObject({ goAheads: 1, dots: 0, accepted: 0 });
  });

  it('logs in, and says account when it cannot', async () => {
    const auth = { user: 'einmal', password: 'secret' };
    const locked = await sinkWith({ auth });
    const open = await sinkWith({});
    expect(await kindAndCode(locked, { auth })).toBe('accepted smtp-250');
    expect(await kindAndCode(locked, { auth: { ...auth, password: 'wrong' } })).toBe('account smtp-535');
    expect(await kindAndCode(locked, {})).toBe('account smtp-530');
    expect(await kindAndCode(open, { auth })).toBe('account ENOAUTH');
    expect((await locked.stats()).accepted).toBe(1);
  });

  it('refuses an international local part where SMTPUTF8 is not offered, and goes on', async () => {
    const sink = await sinkWith({ extensions: ['PIPELINING'] });
    const provider = providerFor(sink);
    expect(await deliver(provider, mailTo('jörg@b.org', 1), PATIENT_MS)).toMatchObject({
      kind: 'rejected',
      what: 'message',
      code: 'ESMTPUTF8',
    });
    expect((await deliver(provider, mailTo('a@b.org', 2), PATIENT_MS)).kind).toBe('accepted');
    expect(await sink.stats()).toMatchObject({ connections: 1, transactions: 1 });
  });
});

type TlsServer = Pick<SmtpSink, 'host' | 'port'> & { readonly mails: string[]; readonly goOn: () => void };

const tlsServers: SMTPServer[] = [];

/** The package's own server with its self-signed certificate. Mails to `slow` wait at RCPT for `goOn`. */
async function tlsServer(options: SMTPServerOptions): Promise<TlsServer> {
  const mails: string[] = [];
  const held: Array<() => void> = [];
  const server = new SMTPServer({
    authOptional: true,
    ...options,
    onRcptTo: (address, _session, done) => {
      if (address.address.startsWith('slow')) held.push(done);
      else done();
    },
    onData: (stream, _session, done) => {
      let mail = '';
      stream.on('data', (chunk: Buffer) => (mail += chunk.toString()));
      stream.on('end', () => {
        mails.push(mail);
        done();
      });
    },
  });
  server.on('error', () => undefined);
  tlsServers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return { host: '127.0.0.1', port, mails, goOn: () => held.forEach((done) => done()) };
}

afterAll(async () => {
  await Promise.all(
    tlsServers.map(async (server) => await new Promise((resolve) => server.close(() => resolve(null)))),
  );
});

describe.each([
  ['tls', { secure: true }],
  ['starttls', {}],
] as const)('SMTP provider by %s', (security, options) => {
  it('delivers where the certificate is good enough, and sends nothing where it is not', async () => {
    const server = await tlsServer(options);
    const lenient = providerFor(server, { security, tlsRejectUnauthorized: false });
    expect((await deliver(lenient, mailTo('a@b.org'), PATIENT_MS)).kind).toBe('accepted');
    expect(server.mails).toHaveLength(1);
    const strict = providerFor(server, { security });
    expect((await deliver(strict, mailTo('a@b.org'), PATIENT_MS)).kind).toBe('not-sent');
    expect(server.mails).toHaveLength(1);
  });

  it('never goes on in the clear', async () => {
    const sink = await sinkWith({});
    const provider = providerFor(sink, { security, tlsRejectUnauthorized: false });
    expect((await deliver(provider, mailTo('a@b.org'), PATIENT_MS)).kind).toBe('not-sent');
    expect(await sink.stats()).toMatchObject({ connections: 1, transactions: 0 });
  });

  it('leaves nothing that goes out after the time is over', async () => {
    const server = await tlsServer(options);
    const provider = providerFor(server, { security, tlsRejectUnauthorized: false });
    expect((await deliver(provider, mailTo('a@b.org', 1), PATIENT_MS)).kind).toBe('accepted');
    expect(await deliver(provider, mailTo('slow@b.org', 2), IMPATIENT_MS)).toMatchObject({
      kind: 'not-sent',
      code: 'timeout',
    });
    server.goOn();
    // A later mail has gone the whole way, so an earlier one would have arrived.
    expect((await deliver(provider, mailTo('b@b.org', 3), PATIENT_MS)).kind).toBe('accepted');
    expect(server.mails.join('')).not.toContain('<2@b.org>');
  });
});
