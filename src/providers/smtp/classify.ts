import { scrubAddresses } from '../../mail/scrub-addresses.ts';
import type { CallOutcome } from '../provider.port.ts';
import { effectIdFrom } from './effect-id.ts';
import type { SmtpMail } from './smtp-config.ts';

/** The fields of nodemailer's errors that decide; never its texts. */
export interface SmtpFailure {
  readonly code?: string | undefined;
  readonly originalCode?: string | undefined;
  readonly command?: string | undefined;
  readonly responseCode?: number | undefined;
  readonly response?: string | undefined;
  readonly message?: string | undefined;
}
/** `body` begins with the server's go-ahead to DATA: from then on only a reply to the message proves that it was refused. */
export type SmtpPhase = 'connecting' | 'envelope' | 'body';
type Said = Pick<CallOutcome, 'code' | 'diagnostic'>;

/** RFC 4954: authentication required, too weak, encryption required, invalid. */
const AUTH_CODES = new Set([530, 534, 535, 538]);
/** RFC 3463 and RFC 7293: 5.7.x that speak of the recipient (list expansion, mailbox or domain has a new owner). */
const SECURITY_CODES_OF_RECIPIENT = new Set(['5.7.2', '5.7.17', '5.7.18']);

export function accepted(reply: string, mail: SmtpMail): CallOutcome {
  const effectId = effectIdFrom(reply) ?? mail.reference;
  return { kind: 'accepted', effectId, code: 'smtp-250', diagnostic: scrubbed(reply, mail) };
}

export function timedOut(phase: SmtpPhase): CallOutcome {
  const diagnostic = phase === 'body' ? 'no answer to the message in time' : 'no answer in time';
  return lost(phase, { code: 'timeout', diagnostic });
}

/** What is known after a failure; RFC 1047 describes the gap that makes `ambiguous` unavoidable. */
export function classifyFailure(failure: SmtpFailure, phase: SmtpPhase, mail: SmtpMail): CallOutcome {
  const said = saidBy(failure, mail);
  if (phase === 'connecting') return beforeMail(failure, said);
  return phase === 'envelope' ? inEnvelope(failure, said) : inBody(failure, said);
}

/** Greeting, EHLO, STARTTLS, AUTH: not about any mail. */
function beforeMail(failure: SmtpFailure, said: Said): CallOutcome {
  const reply = failure.responseCode;
  if (failure.code === 'ENOAUTH' || (failure.code === 'EAUTH' && reply === undefined))
    return { kind: 'account', ...said };
  if (failure.code === 'ETLS' || reply === undefined) return lost('connecting', said);
  if (isTransient(reply)) return throttled(said);
  return isPermanent(reply) && reply !== 503 ? { kind: 'account', ...said } : lost('connecting', said);
}

function inEnvelope(failure: SmtpFailure, said: Said): CallOutcome {
  const reply = failure.responseCode;
  if (failure.code === 'ESMTPUTF8') return { kind: 'rejected', what: 'message', ...said };
  if (failure.code === 'EMESSAGE') return { kind: 'rejected', what: 'message', ...said, code: 'too-large' };
  if (reply !== undefined && isTransient(reply)) return throttled(said);
  // 503, bad sequence of commands, is about one connection: the next one starts anew.
  if (failure.code !== 'EENVELOPE' || reply === undefined || !isPermanent(reply) || reply === 503) {
    return lost('envelope', said);
  }
  if (AUTH_CODES.has(reply)) return { kind: 'account', ...said };
  return refusedEnvelope(failure, said);
}

function refusedEnvelope(failure: SmtpFailure, said: Said): CallOutcome {
  if (failure.command === 'DATA') return { kind: 'rejected', what: 'message', ...said };
  const enhanced = /^\d{3}[ -](5\.\d{1,3}\.\d{1,3})\b/.exec(failure.response ?? '')?.[1] ?? '';
  // Relaying denied, our address blocked: the next mail would fare no better.
  if (enhanced.startsWith('5.7.') && !SECURITY_CODES_OF_RECIPIENT.has(enhanced)) return { kind: 'account', ...said };
  return { kind: 'rejected', what: failure.command === 'RCPT TO' ? 'recipient' : 'message', ...said };
}

function inBody(failure: SmtpFailure, said: Said): CallOutcome {
  const reply = failure.responseCode;
  // Half a line before a lost connection has another code here: it is no reply.
  if (failure.code !== 'EMESSAGE' || failure.command !== 'DATA' || reply === undefined) return lost('body', said);
  if (isTransient(reply)) return throttled(said);
  if (AUTH_CODES.has(reply)) return { kind: 'account', ...said };
  // 3yz, or 2yz where none was due: the session is out of step, so nothing is known.
  return isPermanent(reply) ? { kind: 'rejected', what: 'message', ...said } : lost('body', said);
}

function lost(phase: SmtpPhase, said: Said): CallOutcome {
  return { kind: phase === 'body' ? 'ambiguous' : 'not-sent', ...said };
}

function throttled(said: Said): CallOutcome {
  return { kind: 'throttled', retryAfterMs: null, ...said };
}

function saidBy(failure: SmtpFailure, mail: SmtpMail): Said {
  const code =
    failure.responseCode === undefined ? (failure.originalCode ?? failure.code) : `smtp-${failure.responseCode}`;
  const text = failure.response ?? failure.message ?? '';
  return { code: code ?? 'unknown', diagnostic: scrubbed(text, mail) };
}

function scrubbed(text: string, mail: SmtpMail): string {
  return scrubAddresses(text, [mail.envelope.to, mail.envelope.from]);
}

function isTransient(reply: number): boolean {
  return reply >= 400 && reply < 500;
}

function isPermanent(reply: number): boolean {
  return reply >= 500 && reply < 600;
}
