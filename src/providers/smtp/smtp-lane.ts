import SMTPConnection, { type SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import type { CallOutcome } from '../provider.port.ts';
import { accepted, classifyFailure, timedOut, type SmtpFailure, type SmtpPhase } from './classify.ts';
import { FinishedMessage } from './finished-message.ts';
import { connectionOptions, IDLE_LIMIT_MS, type SmtpConfig, type SmtpMail } from './smtp-config.ts';

/** Milliseconds for the reply to RSET or QUIT. */
const HOUSEKEEPING_LIMIT_MS = 5000;

type AfterDelivery = 'keep' | 'reset' | 'drop';

/**
 * One connection with at most one mail in flight, opened when the first mail comes and again when it was lost. It is
 * nodemailer's connection and not its pool: the pool sends a mail again over another connection in some cases, and
 * the promise here is one try per call.
 */
export class SmtpLane {
  readonly #config: SmtpConfig;
  readonly #options: SMTPConnectionOptions;
  #connection: SMTPConnection | null = null;
  #idleTimer: NodeJS.Timeout | null = null;
  /** Ends the delivery in flight, if there is one. */
  #abort: (() => void) | null = null;

  constructor(config: SmtpConfig) {
    this.#config = config;
    this.#options = connectionOptions(config);
  }

  /**
   * @param timeoutMs When it is over the socket is destroyed before the result is told.
   * @param done Called once with the result.
   * @param free Called once, when the next mail may come.
   */
  start(mail: SmtpMail, timeoutMs: number, done: (result: CallOutcome) => void, free: () => void): void {
    const message = new FinishedMessage(mail.raw);
    let settled = false;
    let sending = false;
    const phase = (): SmtpPhase => (message.bodyStarted ? 'body' : sending ? 'envelope' : 'connecting');
    const settle = (result: CallOutcome, then: AfterDelivery): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      this.#abort = null;
      this.#afterDelivery(then, free);
      done(result);
    };
    const fail = (failure: SmtpFailure): void => {
      settle(classifyFailure(failure, phase(), mail), this.#afterFailure(failure));
    };
    const timer = setTimeout(() => settle(timedOut(phase()), 'drop'), timeoutMs);
    this.#abort = () => fail({ code: 'closed', message: 'the provider was closed' });
    this.#ready(fail, (connection) => {
      // A connection that gets ready after the timeout has been destroyed already.
      if (settled) return;
      sending = true;
      this.#send(connection, mail, message, fail, (reply) => settle(accepted(reply, mail), 'keep'));
    });
  }

  /** Ends a delivery in flight by what is known of it, and says goodbye where nothing is in flight. */
  close(): void {
    if (this.#abort !== null) return this.#abort();
    const connection = this.#connection;
    this.#forget();
    if (connection !== null) sayGoodbye(connection);
  }

  #ready(fail: (failure: SmtpFailure) => void, ready: (connection: SMTPConnection) => void): void {
    const current = this.#connection;
    if (current !== null && isUsable(current)) return this.#watch(current, fail, () => ready(current));
    this.#drop();
    const connection = new SMTPConnection(this.#options);
    this.#connection = connection;
    this.#watch(connection, fail, () => {
      connection.connect((error) => (error ? fail(error) : this.#login(connection, fail, () => ready(connection))));
    });
  }

  /** The listeners of one delivery; those of the one before are gone. */
  #watch(connection: SMTPConnection, fail: (failure: SmtpFailure) => void, then: () => void): void {
    connection.removeAllListeners('error').removeAllListeners('end');
    // While a mail is in flight its own callback brings the same error; whichever comes first settles.
    connection.on('error', fail);
    connection.on('end', () => setImmediate(fail, { code: 'ECONNECTION', message: 'the connection was closed' }));
    try {
      then();
    } catch (error) {
      fail({ code: 'internal', message: error instanceof Error ? error.name : 'unknown' });
    }
  }

  #login(connection: SMTPConnection, fail: (failure: SmtpFailure) => void, ready: () => void): void {
    const { auth } = this.#config;
    if (auth === undefined) return ready();
    if (!connection.allowsAuth) return fail({ code: 'ENOAUTH', message: 'the server does not offer authentication' });
    connection.login({ user: auth.user, pass: auth.password }, (error) => (error ? fail(error) : ready()));
  }

  #send(
    connection: SMTPConnection,
    mail: SmtpMail,
    message: FinishedMessage,
    fail: (failure: SmtpFailure) => void,
    succeed: (reply: string) => void,
  ): void {
    const { from, to } = mail.envelope;
    const international = isInternational(from) || isInternational(to);
    if (international && !offersSmtpUtf8(connection))
      return fail({ code: 'ESMTPUTF8', message: 'the server does not offer SMTPUTF8' });
    const envelope = { from, to, size: mail.raw.length, use8BitMime: international };
    connection.send(envelope, message, (error, info) => {
      if (error !== null) return fail(error);
      succeed(info?.response ?? '250');
    });
  }

  #afterFailure(failure: SmtpFailure): AfterDelivery {
    const connection = this.#connection;
    if (connection === null || !isUsable(connection) || failure.responseCode === 421) return 'drop';
    if (failure.code === 'ESMTPUTF8') return 'keep';
    // EENVELOPE is a refusal before the body. After the body the server may still have bytes to read: a new session then.
    return failure.code === 'EENVELOPE' && failure.responseCode !== 503 ? 'reset' : 'drop';
  }

  #afterDelivery(then: AfterDelivery, free: () => void): void {
    const connection = this.#connection;
    if (then === 'drop' || connection === null) {
      this.#drop();
      return free();
    }
    if (then === 'keep') {
      this.#rest(connection);
      return free();
    }
    this.#reset(connection, free);
  }

  #reset(connection: SMTPConnection, free: () => void): void {
    let over = false;
    const end = (ok: boolean): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      if (ok) this.#rest(connection);
      else this.#drop();
      free();
    };
    const timer = setTimeout(end, HOUSEKEEPING_LIMIT_MS, false);
    this.#watch(
      connection,
      () => end(false),
      () => connection.reset((error) => end(error === null)),
    );
  }

  /** Until the next mail: a connection that the server closes meanwhile is simply gone. */
  #rest(connection: SMTPConnection): void {
    connection.removeAllListeners('error').removeAllListeners('end');
    connection.on('error', () => undefined);
    // One timer, started again at each rest; where it ends during a delivery it does nothing.
    this.#idleTimer ??= setTimeout(() => this.#abort === null && this.close(), IDLE_LIMIT_MS).unref();
    this.#idleTimer.refresh();
  }

  #drop(): void {
    const connection = this.#connection;
    this.#forget();
    if (connection === null) return;
    connection.removeAllListeners('error').removeAllListeners('end');
    connection.on('error', () => undefined);
    connection.close();
  }

  #forget(): void {
    clearTimeout(this.#idleTimer ?? undefined);
    this.#idleTimer = null;
    this.#connection = null;
  }
}

function isUsable(connection: SMTPConnection): boolean {
  const socket = connection._socket;
  return !connection.destroyed && socket !== false && socket !== null && !socket.destroyed && socket.writable;
}

function sayGoodbye(connection: SMTPConnection): void {
  const timer = setTimeout(() => connection.close(), HOUSEKEEPING_LIMIT_MS).unref();
  connection.once('end', () => clearTimeout(timer));
  if (isUsable(connection)) connection.quit();
  else connection.close();
}

function isInternational(address: string): boolean {
  return /[^\0-\x7f]/.test(address);
}

/** nodemailer sends such an address also to servers that cannot take it; what it read from EHLO has no public name. */
function offersSmtpUtf8(connection: SMTPConnection): boolean {
  const extensions: unknown = Reflect.get(connection, '_supportedExtensions');
  return Array.isArray(extensions) && extensions.includes('SMTPUTF8');
}
