import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { MAX_ANSWER_BYTES } from './answer.ts';
import { lookupPublic } from './guarded-connector.ts';
import { HttpCall, type WireResult } from './http-call.ts';
import { HttpWire, type HttpWireOptions } from './http-wire.ts';

/** ms for calls that the server ends. */
const PATIENT_MS = 20_000;
/** ms for calls that only our clock ends. */
const IMPATIENT_MS = 150;

const REQUEST = {
  method: 'POST',
  path: '/send?x=1',
  headers: { 'content-type': 'text/plain' },
  body: Buffer.from('hello'),
};
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

interface TestServer {
  readonly port: number;
  readonly sockets: Socket[];
  /** What each connection has sent. */
  readonly received: string[];
  requests(): number;
}

/** Calls `serve` at each whole request. */
async function serverThat(serve: (socket: Socket, nth: number) => void): Promise<TestServer> {
  const sockets: Socket[] = [];
  const received: string[] = [];
  const requests = (): number => received.join('').split('hello').length - 1;
  const server: Server = createServer((socket) => {
    const index = sockets.push(socket) - 1;
    received[index] = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received[index] += chunk.toString('latin1');
      if (received[index]?.endsWith('hello')) serve(socket, requests());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { port: (server.address() as AddressInfo).port, sockets, received, requests };
}

function wireTo(origin: string, options: Partial<HttpWireOptions> = {}): HttpWire {
  const wire = new HttpWire({ origin, connections: 2, timeoutMs: PATIENT_MS, allowPrivate: true, ...options });
  cleanups.push(async () => await wire.close());
  return wire;
}

const wireAt = ({ port }: { readonly port: number }, options: Partial<HttpWireOptions> = {}): HttpWire =>
  wireTo(`http://127.0.0.1:${port}`, options);

const kindOf = (result: WireResult): string =>
  result.kind === 'answer'
    ? `answer ${result.answer.status}`
    : `lost, ${result.mayHaveLeft ? 'may have left' : 'not sent'}`;

async function closedPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('before anything was written', () => {
  it('a refused connection is not sent', async () => {
    const result = await wireTo(`http://127.0.0.1:${await closedPort()}`).call(REQUEST, PATIENT_MS);
    expect(result).toMatchObject({ kind: 'lost', mayHaveLeft: false, code: 'ECONNREFUSED' });
  });

  it('an unknown host is not sent', async () => {
    const result = await wireTo('http://nowhere.invalid').call(REQUEST, PATIENT_MS);
    expect(kindOf(result)).toBe('lost, not sent');
  });

  it('a server without TLS is not sent anything', async () => {
    const server = await serverThat((socket) => socket.end(OK));
    const wire = wireTo(`https://127.0.0.1:${server.port}`);
    const call = wire.call(REQUEST, PATIENT_MS);
    await eventually('a connection', PATIENT_MS, () => server.sockets.length > 0);
    server.sockets[0]?.write('HTTP/1.1 400 Bad Request\r\n\r\n');
    expect(kindOf(await call)).toBe('lost, not sent');
    expect(server.requests()).toBe(0);
  });

  it('a certificate that nobody vouches for is not sent anything', async () => {
    const server = new SMTPServer({ secure: true, logger: false });
    server.on('error', () => undefined);
    const listening = server.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    cleanups.push(async () => await new Promise((resolve) => server.close(() => resolve())));
    const { port } = listening.address() as AddressInfo;
    expect(kindOf(await wireTo(`https://127.0.0.1:${port}`).call(REQUEST, PATIENT_MS))).toBe('lost, not sent');
  });

  it.each(['http://127.0.0.1', 'http://[::1]', 'http://localhost'])('%s is not called unless allowed', async (host) => {
    const server = await serverThat((socket) => socket.end(OK));
    const wire = wireTo(`${host}:${server.port}`, { allowPrivate: false });
    expect(await wire.call(REQUEST, PATIENT_MS)).toMatchObject({ mayHaveLeft: false, code: 'private-address' });
    expect(server.sockets).toHaveLength(0);
  });

  it('a name is judged by what it resolves to, in the look-up of the connection', async () => {
    const found = await new Promise((resolve) => {
      lookupPublic('localhost', { all: true }, (error) => resolve(error?.code));
    });
    expect(found).toBe('private-address');
  });

  it('what waits for a connection past its time is not sent, also later', async () => {
    const server = await serverThat((socket, nth) => nth > 1 && socket.end(OK));
    const wire = wireAt(server, { connections: 1 });
    const first = wire.call(REQUEST, PATIENT_MS);
    await eventually('the first request', PATIENT_MS, () => server.requests() === 1);
    expect(kindOf(await wire.call({ ...REQUEST, path: '/late' }, IMPATIENT_MS))).toBe('lost, not sent');
    server.sockets[0]?.write(OK);
    expect(kindOf(await first)).toBe('answer 200');
    expect(kindOf(await wire.call({ ...REQUEST, path: '/third' }, PATIENT_MS))).toBe('answer 200');
    expect(server.received.join('')).not.toContain('/late');
  });

  it('no time is no call', async () => {
    const server = await serverThat((socket) => socket.end(OK));
    expect(await wireAt(server).call(REQUEST, 0)).toMatchObject({ mayHaveLeft: false, code: 'timeout' });
    expect(server.sockets).toHaveLength(0);
  });
});

describe('after the request may have left', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['a reset before the answer', (socket) => socket.resetAndDestroy()],
    ['an end before the answer', (socket) => socket.end()],
    ['half a status line', (socket) => socket.end('HTTP/1.1 2')],
    ['headers without end', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n')],
    ['half a body', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"id":')],
    [
      'half a chunked body',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"id"\r\n'),
    ],
    ['what is not HTTP', (socket) => socket.end('<html>welcome</html>\r\n\r\n')],
    [
      'an upgrade that nobody asked for',
      (socket) => socket.end('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
    ['only a 100', (socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n')],
  ])('%s leaves it open, after one request', async (_, serve) => {
    const server = await serverThat(serve);
    expect(kindOf(await wireAt(server).call(REQUEST, PATIENT_MS))).toBe('lost, may have left');
    expect(server.requests()).toBe(1);
  });

  it('a stall ends by our clock, the socket destroyed', async () => {
    const server = await serverThat(() => undefined);
    const result = await wireAt(server).call(REQUEST, IMPATIENT_MS);
    expect(result).toMatchObject({ kind: 'lost', mayHaveLeft: true, code: 'timeout' });
    await eventually('the end of the socket', PATIENT_MS, () => server.sockets.every((socket) => socket.closed));
    expect(server.requests()).toBe(1);
  });

  it('a slow drip ends by our clock', async () => {
    const server = await serverThat((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
      const drip = setInterval(() => socket.write('x'), 10);
      socket.on('close', () => clearInterval(drip));
    });
    const result = await wireAt(server).call(REQUEST, IMPATIENT_MS);
    expect(result).toMatchObject({ kind: 'lost', mayHaveLeft: true, code: 'timeout' });
  });

  it('the provider has its own bound', async () => {
    const server = await serverThat(() => undefined);
    const result = await wireAt(server, { timeoutMs: IMPATIENT_MS }).call(REQUEST, 3_600_000);
    expect(result).toMatchObject({ kind: 'lost', mayHaveLeft: true, code: 'timeout' });
  });
});

describe('answers', () => {
  it('come with status, headers and body, over one connection', async () => {
    const server = await serverThat((socket, nth) =>
      socket.write(`HTTP/1.1 201 Made\r\nX-Id: ${nth}\r\ncontent-length: 2\r\n\r\nok`),
    );
    const wire = wireAt(server, { connections: 1 });
    const results = [await wire.call(REQUEST, PATIENT_MS), await wire.call(REQUEST, PATIENT_MS)];
    expect(results).toMatchObject([
      { kind: 'answer', answer: { status: 201, headers: { 'x-id': '1' }, body: Buffer.from('ok'), whole: true } },
      { kind: 'answer', answer: { status: 201, headers: { 'x-id': '2' } } },
    ]);
    expect(server.sockets).toHaveLength(1);
    expect(server.received[0]).toMatch(/^POST \/send\?x=1 HTTP\/1\.1\r\n/);
  });

  it('may be announced by a 103', async () => {
    const server = await serverThat((socket) => socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${OK}`));
    expect(kindOf(await wireAt(server).call(REQUEST, PATIENT_MS))).toBe('answer 200');
  });

  it('are not followed elsewhere', async () => {
    const server = await serverThat((socket) =>
      socket.write('HTTP/1.1 302 Found\r\nlocation: /send\r\ncontent-length: 0\r\n\r\n'),
    );
    expect(kindOf(await wireAt(server).call(REQUEST, PATIENT_MS))).toBe('answer 302');
    expect(server.requests()).toBe(1);
  });

  it('that are huge are read up to a bound', async () => {
    const server = await serverThat((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n`);
      const more = (): void => {
        while (socket.writable && socket.write(Buffer.alloc(65_536, 'x')));
      };
      socket.on('drain', more);
      more();
    });
    const result = await wireAt(server).call(REQUEST, PATIENT_MS);
    expect(result).toMatchObject({
      kind: 'answer',
      answer: { status: 200, whole: false, body: { length: MAX_ANSWER_BYTES } },
    });
    await eventually('the end of the socket', PATIENT_MS, () => server.sockets.every((socket) => socket.closed));
  });
});

describe('close', () => {
  it('refuses what waits and what comes later, and leaves time to what is under way', async () => {
    const server = await serverThat(() => undefined);
    const wire = wireAt(server, { connections: 1, closeGraceMs: PATIENT_MS });
    const call = wire.call(REQUEST, PATIENT_MS);
    await eventually('the request', PATIENT_MS, () => server.requests() === 1);
    const waiting = wire.call({ ...REQUEST, path: '/late' }, PATIENT_MS);
    const closed = Promise.all([wire.close(), wire.close()]);
    expect(await waiting).toMatchObject({ mayHaveLeft: false, code: 'closed' });
    server.sockets[0]?.write(OK);
    expect(kindOf(await call)).toBe('answer 200');
    await closed;
    expect(await wire.call(REQUEST, PATIENT_MS)).toMatchObject({ mayHaveLeft: false, code: 'closed' });
  });

  it('ends what does not end, by what is known of it', async () => {
    const server = await serverThat(() => undefined);
    const wire = wireAt(server, { connections: 1, closeGraceMs: 1 });
    const sent = wire.call(REQUEST, PATIENT_MS);
    await eventually('the request', PATIENT_MS, () => server.requests() === 1);
    const waiting = wire.call({ ...REQUEST, path: '/late' }, PATIENT_MS);
    await wire.close();
    expect(await sent).toMatchObject({ mayHaveLeft: true, code: 'closed' });
    expect(await waiting).toMatchObject({ mayHaveLeft: false, code: 'closed' });
    await eventually('the end of the socket', PATIENT_MS, () => server.sockets.every((socket) => socket.closed));
    expect(server.received.join('')).not.toContain('/late');
  });
});

function controller() {
  const aborted: unknown[] = [];
  const stub = { aborted: false, reason: null, paused: false, pause: () => undefined, resume: () => undefined };
  return { ...stub, abort: (reason: unknown) => void aborted.push(reason), seen: aborted };
}

describe('HttpCall', () => {
  it('begins once: a client that would repeat it is stopped', () => {
    const results: WireResult[] = [];
    const call = new HttpCall(PATIENT_MS, (result) => results.push(result));
    const [first, second] = [controller(), controller()];
    call.onRequestStart(first);
    call.onRequestStart(second);
    expect([first.seen.length, second.seen.length]).toEqual([0, 1]);
    call.end('closed', '');
    call.end('closed', '');
    expect(results).toHaveLength(1);
  });

  it('does not begin after its end', () => {
    const call = new HttpCall(PATIENT_MS, () => undefined);
    call.end('closed', '');
    const late = controller();
    call.onRequestStart(late);
    expect(late.seen).toHaveLength(1);
  });
});
