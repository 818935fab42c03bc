import type { Socket } from 'node:net';
import type { SinkLedger } from './smtp-sink-ledger.ts';
import type { SinkAction, SinkPhase, SinkScript } from './smtp-sink-script.ts';

export interface SinkContext {
  readonly ledger: SinkLedger;
  readonly script: SinkScript;
  /** Without EHLO's own line, e.g. `PIPELINING`. */
  readonly extensions: readonly string[];
  /** `user:password` that AUTH PLAIN must bring; null: AUTH is not announced. */
  readonly auth: string | null;
  /** Sessions that stall; each entry goes on when called. */
  readonly stalled: Set<() => void>;
}

const EMPTY = Buffer.alloc(0);
const END_OF_DATA = Buffer.from('\r\n.\r\n');
const STUFFED_DOT = '\r\n..';

export function serveSmtp(socket: Socket, context: SinkContext): void {
  new SinkSession(socket, context).start();
}

/** One connection. Replies to commands that came in one piece leave in one piece. */
class SinkSession {
  readonly #socket: Socket;
  readonly #context: SinkContext;
  #input: Buffer = EMPTY;
  #searchFrom = 0;
  #mode: 'command' | 'data' | 'closed' = 'command';
  #waiting = false;
  #replies = '';
  #senderAccepted = false;
  #recipient = '';
  #authenticated = false;
  /** A reply was given in the middle of the body: the dot gets none. */
  #answeredEarly = false;
  #bodySeen = false;
  #ids = 0;

  constructor(socket: Socket, context: SinkContext) {
    this.#socket = socket;
    this.#context = context;
  }

  start(): void {
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#socket.on('error', () => this.#socket.destroy());
    this.#at('connect', () => this.#say('220 sink ESMTP'), true);
    this.#flush();
  }

  #receive(chunk: Buffer): void {
    this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
    this.#advance();
  }

  #advance(): void {
    while (
      !this.#waiting &&
      (this.#mode === 'command' ? this.#readCommand() : this.#mode === 'data' && this.#readBody())
    ) {
      // each turn consumes one command or one message
    }
    this.#flush();
  }

  #readCommand(): boolean {
    const end = this.#input.indexOf(0x0a);
    if (end < 0) return false;
    const line = this.#input.toString('utf8', 0, end).trimEnd();
    this.#input = this.#input.subarray(end + 1);
    this.#command(line);
    return true;
  }

  #command(line: string): void {
    const verb = line.slice(0, 4).toUpperCase();
    switch (verb) {
      case 'MAIL':
        return this.#mail();
      case 'RCPT':
        return this.#rcpt(line);
      case 'DATA':
        return this.#at('data', () => (this.#recipient === '' ? this.#say('503 5.5.1 no recipient') : this.#goAhead()));
      case 'EHLO':
      case 'HELO':
        return this.#at('ehlo', () => this.#say(verb === 'EHLO' ? this.#greeting() : '250 sink'));
      case 'AUTH':
        return this.#at('auth', () => this.#login(line));
      case 'RSET':
        this.#senderAccepted = false;
        this.#recipient = '';
        return this.#say('250 2.0.0 reset');
      case 'NOOP':
        return this.#say('250 2.0.0 ok');
      case 'QUIT':
        this.#say('221 2.0.0 bye');
        return this.#close();
      default:
        return this.#say('500 5.5.2 not understood');
    }
  }

  #mail(): void {
    this.#context.ledger.transactions += 1;
    this.#senderAccepted = false;
    this.#recipient = '';
    if (this.#context.auth !== null && !this.#authenticated) return this.#say('530 5.7.0 authentication required');
    this.#at('mail', () => {
      this.#senderAccepted = true;
      this.#say('250 2.1.0 sender ok');
    });
  }

  #rcpt(line: string): void {
    if (!this.#senderAccepted) return this.#say('503 5.5.1 no sender');
    const recipient = line.slice(line.indexOf('<') + 1, line.lastIndexOf('>'));
    this.#at(
      'rcpt',
      () => {
        this.#recipient = recipient;
        this.#say('250 2.1.5 recipient ok');
      },
      false,
      recipient,
    );
  }

  #greeting(): string {
    const lines = ['sink', ...this.#context.extensions, ...(this.#context.auth === null ? [] : ['AUTH PLAIN'])];
    return lines.map((text, index) => `250${index === lines.length - 1 ? ' ' : '-'}${text}`).join('\r\n');
  }

  #login(line: string): void {
    const given = Buffer.from(line.split(' ')[2] ?? '', 'base64')
      .toString()
      .split('\0')
      .slice(1)
      .join(':');
    this.#authenticated = given === this.#context.auth;
    this.#say(this.#authenticated ? '235 2.7.0 welcome' : '535 5.7.8 wrong credentials');
  }

  #goAhead(): void {
    this.#context.ledger.goAheads += 1;
    this.#mode = 'data';
    this.#bodySeen = this.#answeredEarly = false;
    this.#searchFrom = 0;
    this.#say('354 go on');
  }

  #readBody(): boolean {
    if (this.#input.length === 0) return false;
    if (!this.#bodySeen) {
      this.#bodySeen = true;
      this.#at('body', () => undefined);
      // A stall or a drop waits here; an early reply has been queued and the body is still read.
      if (this.#waiting || this.#mode === 'closed') return false;
    }
    const emptyMessage = this.#input.toString('latin1', 0, 3) === '.\r\n';
    const end = emptyMessage ? -2 : this.#input.indexOf(END_OF_DATA, this.#searchFrom);
    if (end === -1) {
      this.#searchFrom = Math.max(0, this.#input.length - END_OF_DATA.length + 1);
      return false;
    }
    const raw = unstuffed(this.#input.subarray(0, end + 2));
    this.#input = this.#input.subarray(end + END_OF_DATA.length);
    this.#mode = 'command';
    this.#dot(raw);
    return true;
  }

  #dot(raw: Buffer): void {
    const recipient = this.#recipient;
    this.#context.ledger.dots += 1;
    this.#senderAccepted = false;
    this.#recipient = '';
    if (this.#answeredEarly) return;
    const count = (): void => {
      this.#context.ledger.accept(recipient, raw);
      this.#ids += 1;
      this.#at(
        'accepted',
        () => this.#say(`250 2.0.0 Ok: queued as ${this.#socket.remotePort ?? 0}-${this.#ids}`),
        false,
        recipient,
      );
    };
    this.#at('dot', count, false, recipient);
  }

  #at(phase: SinkPhase, usual: () => void, closeAfterReply = false, recipient = this.#recipient): void {
    const action = this.#context.script.decide(phase, recipient);
    if (action === null) return usual();
    this.#misbehave(action, phase, usual, closeAfterReply);
  }

  #misbehave(action: SinkAction, phase: SinkPhase, usual: () => void, closeAfterReply: boolean): void {
    switch (action.do) {
      case 'drop':
      case 'reset':
        this.#flush();
        this.#mode = 'closed';
        return void (action.do === 'drop' ? this.#socket.destroy() : this.#socket.resetAndDestroy());
      case 'reply':
        if (phase === 'body') this.#answeredEarly = true;
        this.#say(action.line);
        return closeAfterReply || action.line.startsWith('421') ? this.#close() : undefined;
      case 'stall':
        this.#wait();
        return void this.#context.stalled.add(() => this.#goOn(usual));
      case 'delay':
        this.#wait();
        return void setTimeout(() => this.#goOn(usual), action.ms);
    }
  }

  /** Reads nothing either, so that a client cannot get rid of more than the system's buffers hold. */
  #wait(): void {
    this.#waiting = true;
    this.#socket.pause();
  }

  /** Also when the client has left meanwhile: a real server works off what it has received. */
  #goOn(usual: () => void): void {
    this.#waiting = false;
    this.#socket.resume();
    usual();
    this.#advance();
  }

  #say(line: string): void {
    this.#replies += `${line}\r\n`;
  }

  #flush(): void {
    if (this.#replies === '') return;
    if (this.#socket.writable) this.#socket.write(this.#replies);
    this.#replies = '';
  }

  #close(): void {
    this.#flush();
    this.#mode = 'closed';
    this.#socket.end();
  }
}

function unstuffed(raw: Buffer): Buffer {
  const startsStuffed = raw.toString('latin1', 0, 2) === '..';
  if (!startsStuffed && !raw.includes(STUFFED_DOT)) return raw;
  const text = raw.toString('latin1').replaceAll(STUFFED_DOT, '\r\n.');
  return Buffer.from(startsStuffed ? text.slice(1) : text, 'latin1');
}
