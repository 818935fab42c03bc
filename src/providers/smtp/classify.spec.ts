import { describe, expect, it } from 'vitest';
import { accepted, classifyFailure, timedOut, type SmtpFailure, type SmtpPhase } from './classify.ts';

const MAIL = { reference: 'op-1', envelope: { from: 'news@b.org', to: 'jane@b.org' }, raw: Buffer.from('') };

function reply(line: string, code: string, command: string): SmtpFailure {
  return { code, command, response: line, responseCode: Number(line.slice(0, 3)) };
}
const rcpt = (line: string): SmtpFailure => reply(line, 'EENVELOPE', 'RCPT TO');
const sender = (line: string): SmtpFailure => reply(line, 'EENVELOPE', 'MAIL FROM');
const data = (line: string): SmtpFailure => reply(line, 'EENVELOPE', 'DATA');
const dot = (line: string): SmtpFailure => reply(line, 'EMESSAGE', 'DATA');
const lost: SmtpFailure = { code: 'ECONNECTION', command: 'CONN', message: 'Connection closed unexpectedly' };

describe('classifyFailure', () => {
  it.each<[string, SmtpFailure, SmtpPhase, string, string]>([
    [
      'a refused connection',
      { code: 'ESOCKET', originalCode: 'ECONNREFUSED', command: 'CONN' },
      'connecting',
      'not-sent',
      'ECONNREFUSED',
    ],
    [
      'an unknown host',
      { code: 'EDNS', originalCode: 'ENOTFOUND', command: 'CONN' },
      'connecting',
      'not-sent',
      'ENOTFOUND',
    ],
    ['a broken handshake', { code: 'ETLS', command: 'CONN' }, 'connecting', 'not-sent', 'ETLS'],
    ['STARTTLS refused', reply('454 4.7.0 not now', 'ETLS', 'STARTTLS'), 'connecting', 'not-sent', 'smtp-454'],
    ['a busy greeting', reply('421 4.3.2 busy', 'EPROTOCOL', 'CONN'), 'connecting', 'throttled', 'smtp-421'],
    ['a closed door', reply('554 5.7.1 blocked', 'EPROTOCOL', 'CONN'), 'connecting', 'account', 'smtp-554'],
    ['wrong credentials', reply('535 5.7.8 no', 'EAUTH', 'AUTH PLAIN'), 'connecting', 'account', 'smtp-535'],
    ['credentials not checked', reply('454 4.7.0 later', 'EAUTH', 'AUTH PLAIN'), 'connecting', 'throttled', 'smtp-454'],
    ['no way to log in', { code: 'ENOAUTH' }, 'connecting', 'account', 'ENOAUTH'],
    ['no mechanism', { code: 'EAUTH', command: 'API' }, 'connecting', 'account', 'EAUTH'],
    ['a connection lost before 354', lost, 'envelope', 'not-sent', 'ECONNECTION'],
    [
      'half a line before 354',
      { ...lost, response: '550 half', responseCode: 550 },
      'envelope',
      'not-sent',
      'smtp-550',
    ],
    ['a 421 out of turn', { ...lost, response: '421 bye', responseCode: 421 }, 'envelope', 'throttled', 'smtp-421'],
    ['a session out of step', reply('250 what', 'EPROTOCOL', 'CONN'), 'envelope', 'not-sent', 'smtp-250'],
    ['no SMTPUTF8', { code: 'ESMTPUTF8' }, 'envelope', 'rejected message', 'ESMTPUTF8'],
    ['more than SIZE', { code: 'EMESSAGE', command: 'MAIL FROM' }, 'envelope', 'rejected message', 'too-large'],
    ['MAIL: later', sender('451 4.3.0 later'), 'envelope', 'throttled', 'smtp-451'],
    ['MAIL: log in first', sender('530 5.7.0 log in'), 'envelope', 'account', 'smtp-530'],
    ['MAIL: not your domain', sender('550 5.7.60 not yours'), 'envelope', 'account', 'smtp-550'],
    ['MAIL: bad sender', sender('550 5.1.8 no such domain'), 'envelope', 'rejected message', 'smtp-550'],
    ['MAIL: too big', sender('552 5.3.4 too big'), 'envelope', 'rejected message', 'smtp-552'],
    ['MAIL: bad sequence', sender('503 5.5.1 what'), 'envelope', 'not-sent', 'smtp-503'],
    ['RCPT: unknown', rcpt('550 5.1.1 unknown'), 'envelope', 'rejected recipient', 'smtp-550'],
    ['RCPT: unknown, no enhanced code', rcpt('553 no'), 'envelope', 'rejected recipient', 'smtp-553'],
    ['RCPT: full', rcpt('452 4.2.2 full'), 'envelope', 'throttled', 'smtp-452'],
    ['RCPT: slow down', rcpt('454 4.7.0 slow down'), 'envelope', 'throttled', 'smtp-454'],
    ['RCPT: relaying denied', rcpt('554 5.7.1 relay access denied'), 'envelope', 'account', 'smtp-554'],
    ['RCPT: the mailbox has a new owner', rcpt('550 5.7.17 new owner'), 'envelope', 'rejected recipient', 'smtp-550'],
    ['RCPT: text that looks like a code', rcpt('550 see 5.7.1'), 'envelope', 'rejected recipient', 'smtp-550'],
    ['DATA: later', data('451 4.3.0 later'), 'envelope', 'throttled', 'smtp-451'],
    ['DATA: refused', data('554 5.7.1 no'), 'envelope', 'rejected message', 'smtp-554'],
    ['a connection lost after 354', lost, 'body', 'ambiguous', 'ECONNECTION'],
    ['half a line after 354', { ...lost, response: '554 half', responseCode: 554 }, 'body', 'ambiguous', 'smtp-554'],
    ['dot: later', dot('451 4.3.0 later'), 'body', 'throttled', 'smtp-451'],
    ['dot: shutting down', dot('421 4.3.2 bye'), 'body', 'throttled', 'smtp-421'],
    ['dot: spam', dot('554 5.7.1 spam'), 'body', 'rejected message', 'smtp-554'],
    ['dot: too big', dot('552 5.3.4 too big'), 'body', 'rejected message', 'smtp-552'],
    ['dot: log in', dot('530 5.7.0 log in'), 'body', 'account', 'smtp-530'],
    ['dot: 354 once more', dot('354 go on'), 'body', 'ambiguous', 'smtp-354'],
    ['dot: no number', { code: 'EMESSAGE', command: 'DATA', response: 'hello' }, 'body', 'ambiguous', 'EMESSAGE'],
    ['nothing known', {}, 'body', 'ambiguous', 'unknown'],
  ])('%s', (_what, failure, phase, expected, code) => {
    const result = classifyFailure(failure, phase, MAIL);
    expect(result.kind === 'rejected' ? `rejected ${result.what}` : result.kind).toBe(expected);
    expect(result.code).toBe(code);
  });

  it('tells no address', () => {
    const result = classifyFailure(
      rcpt('550 5.1.1 <jane@b.org> unknown,\r\nask postmaster@other.org about jane'),
      'envelope',
      MAIL,
    );
    expect(result.diagnostic).toBe('550 5.1.1 <address> unknown, ask <address> about <address>');
  });
});

describe('timedOut', () => {
  it('is ambiguous only once the body has begun', () => {
    expect(['connecting', 'envelope', 'body'].map((phase) => timedOut(phase as SmtpPhase).kind)).toEqual([
      'not-sent',
      'not-sent',
      'ambiguous',
    ]);
  });
});

describe('accepted', () => {
  it('names the queue id, or our own reference where there is none', () => {
    expect(accepted('250 2.0.0 Ok: queued as ABC', MAIL)).toMatchObject({
      kind: 'accepted',
      effectId: 'ABC',
      code: 'smtp-250',
    });
    expect(accepted('250 fine', MAIL)).toMatchObject({ effectId: 'op-1', diagnostic: '250 fine' });
  });
});
