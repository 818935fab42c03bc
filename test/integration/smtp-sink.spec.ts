import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { spawnSmtpSink, type SmtpSink } from '../support/sinks/smtp-sink.ts';

/** A client that is as bad as a test needs: it writes what it is told and waits for a text. */
class RawClient {
  readonly socket: Socket;
  #heard = '';

  constructor(sink: SmtpSink) {
    this.socket = connect(sink.port, sink.host);
    this.socket.on('error', () => undefined);
    this.socket.on('data', (chunk: Buffer) => (this.#heard += chunk.toString()));
  }

  async until(text: string): Promise<void> {
    while (!this.#heard.includes(text)) await once(this.socket, 'data');
    this.#heard = this.#heard.slice(this.#heard.indexOf(text) + text.length);
  }

  /** The next line, without its end. */
  async line(): Promise<string> {
    while (!this.#heard.includes('\r\n')) await once(this.socket, 'data');
    const end = this.#heard.indexOf('\r\n');
    const line = this.#heard.slice(0, end);
    this.#heard = this.#heard.slice(end + 2);
    return line;
  }

  async mail(to: string, message: string): Promise<void> {
    this.socket.write(`MAIL FROM:<a@b.org>\r\nRCPT TO:<${to}>\r\nDATA\r\n`);
    await this.until('354 ');
    this.socket.write(message);
  }
}

function message(id: number): string {
  return `Message-ID: <${id}@b.org>\r\n\r\nx\r\n.\r\n`;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('SMTP sink', () => {
  let sink: SmtpSink;
  const clients: RawClient[] = [];
  beforeAll(async () => {
    sink = await spawnSmtpSink({ recordArrivals: true, keepRaw: 1 });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.socket.destroy();
    await sink.reset();
  });
  afterAll(async () => await sink.stop());

  async function client(): Promise<RawClient> {
    const raw = new RawClient(sink);
    clients.push(raw);
    await raw.until('220 ');
    raw.socket.write('EHLO x\r\n');
    await raw.until('250 ENHANCEDSTATUSCODES');
    return raw;
  }

  it('counts copies per Message-ID and recipient, and sees whether their bytes differ', async () => {
    const peer = await client();
    for (const body of ['same', 'same', 'other']) {
      await peer.mail('u@b.org', `message-id:\r\n <1@b.org>\r\n\r\n${body}\r\n.\r\n`);
      await peer.until('250 ');
    }
    await peer.mail('v@b.org', '.\r\n');
    await peer.until('250 ');
    expect(await sink.counts()).toEqual(
      new Map([
        ['<1@b.org>', 3],
        ['(none)', 1],
      ]),
    );
    expect(await sink.recipients()).toEqual(
      new Map([
        ['u@b.org', 3],
        ['v@b.org', 1],
      ]),
    );
    expect((await sink.hashes()).get('<1@b.org>')).toHaveLength(2);
    expect(await sink.stats()).toMatchObject({
      accepted: 4,
      distinct: 2,
      doubled: 1,
      transactions: 4,
      goAheads: 4,
      dots: 4,
    });
    const arrivals = await sink.arrivals();
    expect(arrivals.map(({ recipient }) => recipient)).toEqual(['u@b.org', 'u@b.org', 'u@b.org', 'v@b.org']);
    expect(arrivals.every(({ at }) => Math.abs(at - Date.now()) < 60_000)).toBe(true);
  });

  it('finds the end of a message wherever the pieces break, and undoes the dots', async () => {
    const peer = await client();
    const message = 'Message-ID: <2@b.org>\r\n\r\n..a\r\n.\n...\r\n\r\n.\r\n';
    await peer.mail('u@b.org', '');
    for (const letter of message) {
      peer.socket.write(letter);
      await new Promise(setImmediate);
    }
    await peer.until('250 ');
    expect((await sink.raw('<2@b.org>'))?.toString()).toBe('Message-ID: <2@b.org>\r\n\r\n.a\r\n.\n...\r\n\r\n');
    expect(await sink.raw('<1@b.org>')).toBeNull();
  });

  it('takes several messages in one piece', async () => {
    const peer = await client();
    const envelope = 'MAIL FROM:<a@b.org>\r\nRCPT TO:<u@b.org>\r\nDATA\r\n';
    peer.socket.write(`${envelope}${message(1)}${envelope}${message(2)}QUIT\r\n`);
    await peer.until('221 ');
    expect([...(await sink.counts()).keys()]).toEqual(['<1@b.org>', '<2@b.org>']);
  });

  it('follows the script by recipient, number and limit', async () => {
    await sink.script([
      { phase: 'rcpt', recipient: 'never', action: { do: 'reply', line: '550 5.1.1 never' } },
      { phase: 'rcpt', pattern: '^second', nth: 2, action: { do: 'reply', line: '451 4.0.0 second' } },
      { phase: 'rcpt', pattern: '^twice', times: 2, action: { do: 'reply', line: '452 4.0.0 twice' } },
      { phase: 'rcpt', pattern: '^maybe', probability: 0, action: { do: 'reply', line: '550 5.0.0 maybe' } },
      { phase: 'rcpt', pattern: '^late', action: { do: 'delay', ms: 1 } },
    ]);
    const peer = await client();
    const codes: string[] = [];
    for (const to of ['never', 'never', 'second', 'second', 'second', 'twice', 'twice', 'twice', 'maybe', 'late']) {
      peer.socket.write(`MAIL FROM:<a@b.org>\r\nRCPT TO:<${to}@b.org>\r\n`);
      await peer.until('sender ok\r\n');
      codes.push((await peer.line()).slice(0, 3));
    }
    expect(codes).toEqual(['550', '550', '250', '451', '250', '452', '452', '250', '250', '250']);
  });

  async function draw(seed: number): Promise<number[]> {
    await sink.reset();
    await sink.script([{ phase: 'dot', probability: 0.5, action: { do: 'reply', line: '451 4.0.0 dice' } }], seed);
    const peer = await client();
    const sent = Array.from({ length: 20 }, (_, n) => n);
    for (const n of sent) {
      await peer.mail('u@b.org', `Message-ID: <${n}@b.org>\r\n\r\n.\r\n`);
      await peer.until('.0');
    }
    const counts = await sink.counts();
    return sent.filter((n) => counts.has(`<${n}@b.org>`));
  }

  it('repeats its dice with the same seed', async () => {
    const first = await draw(7);
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(20);
    expect(await draw(7)).toEqual(first);
    expect(await draw(8)).not.toEqual(first);
  });

  it('works off what it has, also when the client has left a stall', async () => {
    await sink.script([{ phase: 'dot', action: { do: 'stall' } }]);
    const peer = await client();
    await peer.mail('u@b.org', 'Message-ID: <3@b.org>\r\n\r\n.\r\n');
    await vi.waitFor(async () => expect((await sink.stats()).stalled).toBe(1), { timeout: 10_000 });
    peer.socket.destroy();
    expect((await sink.stats()).accepted).toBe(0);
    expect(await sink.release()).toBe(1);
    expect(await sink.counts()).toEqual(new Map([['<3@b.org>', 1]]));
  });

  it('refuses what it does not know', async () => {
    const answer = await fetch(`${sink.controlUrl}/nothing`);
    expect(answer.status).toBe(404);
    const bad = await fetch(`${sink.controlUrl}/script`, { method: 'POST', body: 'no json' });
    expect(bad.status).toBe(400);
  });

  it('ends when it is told to, however', async () => {
    const [one, two] = await Promise.all([spawnSmtpSink(), spawnSmtpSink()]);
    await Promise.all([one.stop(), two.kill()]);
    await one.stop();
    expect([isRunning(one.pid), isRunning(two.pid)]).toEqual([false, false]);
  });
});
