import MailComposer from 'nodemailer/lib/mail-composer';
import { parseMailbox, type ParsedMailbox } from './mailbox.ts';

export interface HeaderSource {
  readonly from: string;
  readonly replyTo?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
/** The same as fields, not encoded. Addresses are in their form for sending. */
export interface SenderParts {
  readonly from: { readonly name: string | null; readonly address: string };
  readonly replyTo: { readonly name: string | null; readonly address: string } | null;
  readonly headers: Readonly<Record<string, string>>;
}
export type FixedHeaders =
  | {
      readonly ok: true;
      /** Ends with CRLF. */
      readonly block: string;
      /** For MAIL FROM. */
      readonly from: string;
      readonly sender: SenderParts;
    }
  | { readonly ok: false; readonly field: 'from' | 'replyTo' | 'headers'; readonly rule: string };

const MAX_HEADERS = 50;
const MAX_VALUE_LENGTH = 2000;
const MAX_LINE_LENGTH = 998;
/** Set by this service, by the servers on the way, or a way to other recipients. */
const RESERVED =
  /^(?:to|from|cc|bcc|sender|reply-to|subject|date|message-id|return-path|received|delivered-to|authentication-results|dkim-signature|domainkey-signature|x-google-dkim-signature|content-.*|mime-.*|resent-.*|arc-.*)$/;
/** What the composer adds and this service writes for each recipient. */
const WRITTEN_PER_RECIPIENT = /^(?:date|message-id|mime-version|content-type|content-transfer-encoding):/i;

/** The headers that are the same for every recipient, encoded and folded once by nodemailer's composer. */
export function fixedHeaders(source: HeaderSource): FixedHeaders {
  const from = senderOf(source.from);
  if (!from.ok) return { ok: false, field: 'from', rule: from.rule };
  const replyTo = source.replyTo === undefined ? null : senderOf(source.replyTo);
  if (replyTo?.ok === false) return { ok: false, field: 'replyTo', rule: replyTo.rule };
  const custom = Object.entries(source.headers ?? {});
  const rule = whyHeadersRefused(custom);
  if (rule !== null) return { ok: false, field: 'headers', rule };
  const composer = new MailComposer({
    from: mailbox(from),
    ...(replyTo === null ? {} : { replyTo: mailbox(replyTo) }),
    headers: custom.map(([key, value]) => ({ key, value })),
    text: '',
    newline: 'win',
  });
  const lines = composer
    .compile()
    .buildHeaders()
    .split(/\r\n(?![ \t])/)
    .filter((line) => line !== '' && !WRITTEN_PER_RECIPIENT.test(line));
  const block = `${lines.join('\r\n')}\r\n`;
  if (block.split('\r\n').some((line) => line.length > MAX_LINE_LENGTH)) {
    return { ok: false, field: 'headers', rule: 'a header needs a line longer than 998 characters' };
  }
  const sender = {
    from: fieldOf(from),
    replyTo: replyTo === null ? null : fieldOf(replyTo),
    headers: source.headers ?? {},
  };
  return { ok: true, block, from: from.address.send, sender };
}

function fieldOf({ name, address }: ParsedMailbox): SenderParts['from'] {
  return { name: name ?? null, address: address.send };
}

function senderOf(text: string): ReturnType<typeof parseMailbox> {
  const parsed = parseMailbox(text);
  if (!parsed.ok || !parsed.address.smtputf8) return parsed;
  // Every recipient's server would have to offer SMTPUTF8, most do not.
  return { ok: false, rule: 'the local part of a sender must be ASCII' };
}

function mailbox(parsed: ParsedMailbox): { name: string; address: string } {
  return { name: parsed.name ?? '', address: parsed.address.send };
}

function whyHeadersRefused(headers: ReadonlyArray<readonly [string, string]>): string | null {
  if (headers.length > MAX_HEADERS) return `more than ${MAX_HEADERS} headers`;
  const seen = new Set<string>();
  for (const [name, value] of headers) {
    const rule = whyHeaderRefused(name, value) ?? (seen.has(name.toLowerCase()) ? 'is given twice' : null);
    // Names of headers are no secret, but what is not a token may be anything.
    if (rule !== null) return `${/^[\w-]{1,60}$/.test(name) ? name : 'a header'} ${rule}`;
    seen.add(name.toLowerCase());
  }
  return null;
}

function whyHeaderRefused(name: string, value: string): string | null {
  if (!/^[!#$%&'*+\-.^`|~\w]{1,100}$/.test(name)) return 'is not a header name';
  if (RESERVED.test(name.toLowerCase())) return 'is set by the service and cannot be given';
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(value)) return 'holds a control character';
  return value.length > MAX_VALUE_LENGTH ? `is longer than ${MAX_VALUE_LENGTH} characters` : null;
}
