import { bodyPart } from './body-part.ts';
import { fixedHeaders, type SenderParts } from './fixed-headers.ts';
import { encodeSubject, MAX_SUBJECT_LENGTH, singleLine } from './subject.ts';
import {
  compileTemplate,
  type CompiledTemplate,
  type Rendered,
  type TemplateData,
  type TemplateResult,
} from './template.ts';
import { htmlToText, textTemplateFromHtml } from './text-template.ts';

/** `subject`, `html` and `text` are Liquid templates; the rest is the same for every recipient. */
export interface MailSource {
  /** `Name <address>` or an address. */
  readonly from: string;
  readonly replyTo?: string;
  readonly subject: string;
  /** Absent: a mail of text alone. One of `html` and `text` must be there. */
  readonly html?: string;
  /** Made from `html` when absent. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The texts are finished, and braces in them mean nothing. */
  readonly isRendered?: boolean;
}
export type MailField = Exclude<keyof MailSource, 'isRendered'>;

export interface MailFilling {
  /** `send` of the parsed address. */
  readonly to: string;
  /** With angle brackets; this and the next two from the operation, so that each attempt has the same bytes. */
  readonly messageId: string;
  readonly date: Date;
  /** 1 to 60 of `A-Z a-z 0-9 - _`. */
  readonly boundarySeed: string;
  readonly data: TemplateData;
}
/** One recipient's mail: its rendered parts, and the finished message, which is made when it is asked for. */
export type FilledMail =
  | {
      readonly ok: true;
      readonly subject: string;
      readonly html: string | null;
      readonly text: string;
      /** CRLF, ASCII but for an SMTPUTF8 address; same input, same bytes. */
      readonly raw: () => Buffer;
    }
  | { readonly ok: false; readonly rule: string };

export interface CompiledMail {
  /** Address for MAIL FROM. */
  readonly from: string;
  /** For providers that build the message themselves. */
  readonly sender: SenderParts;
  /** How the text part comes about: from a template (given or derived), or from each recipient's HTML (slow). */
  readonly textFrom: 'template' | 'rendered-html';
  fill(filling: MailFilling): FilledMail;
}
export type CompileResult =
  | { readonly ok: true; readonly mail: CompiledMail }
  | { readonly ok: false; readonly field: MailField; readonly rule: string };

/** Characters of one rendered part. */
const MAX_PART_LENGTH = 2_000_000;

interface Parts {
  readonly headers: string;
  readonly subject: CompiledTemplate;
  /** null: text alone. */
  readonly html: CompiledTemplate | null;
  /** null: convert the rendered HTML. */
  readonly text: CompiledTemplate | null;
}

/** Compiles a revision once; what is left per recipient is rendering, encoding and joining. */
export function compileMail(source: MailSource): CompileResult {
  const headers = fixedHeaders(source);
  if (!headers.ok) return headers;
  if (/[\r\n\0]/.test(source.subject)) return { ok: false, field: 'subject', rule: 'holds a line break or NUL' };
  const compile = source.isRendered ? finishedText : compileTemplate;
  const subject = compile(source.subject, 'plain');
  if (!subject.ok) return { ok: false, field: 'subject', rule: subject.rule };
  const html = source.html === undefined ? null : compile(source.html, 'html');
  if (html?.ok === false) return { ok: false, field: 'html', rule: html.rule };
  const given = source.text === undefined ? null : compile(source.text, 'plain');
  if (given?.ok === false) return { ok: false, field: 'text', rule: given.rule };
  if (html === null && given === null) return { ok: false, field: 'html', rule: 'html or text must be given' };
  const text = given?.template ?? (source.isRendered ? null : textTemplateFromHtml(source.html ?? ''));
  const parts: Parts = { headers: headers.block, subject: subject.template, html: html?.template ?? null, text };
  const textFrom = text === null ? 'rendered-html' : 'template';
  const { from, sender } = headers;
  return { ok: true, mail: { from, sender, textFrom, fill: (filling) => fillMail(parts, filling) } };
}

function finishedText(text: string): TemplateResult {
  return { ok: true, template: { render: () => ({ ok: true, text }) } };
}

function fillMail(parts: Parts, filling: MailFilling): FilledMail {
  const rule = whyFillingRefused(filling);
  if (rule !== null) return { ok: false, rule };
  const subject = parts.subject.render(filling.data, filling.date);
  if (!subject.ok) return failed('subject', subject.rule);
  const line = singleLine(subject.text);
  if (line.length > MAX_SUBJECT_LENGTH) return failed('subject', `longer than ${MAX_SUBJECT_LENGTH} characters`);
  const html = parts.html && limited(parts.html.render(filling.data, filling.date));
  if (html?.ok === false) return failed('html', html.rule);
  const text = limited(parts.text?.render(filling.data, filling.date) ?? convertedText(html?.text ?? ''));
  if (!text.ok) return failed('text', text.rule);
  const rendered = { subject: line, html: html?.text ?? null, text: text.text };
  const raw = () =>
    Buffer.from(message(parts.headers, filling, encodeSubject(line), rendered.text, rendered.html), 'utf8');
  return { ok: true, ...rendered, raw };
}

function message(headers: string, filling: MailFilling, subject: string, text: string, html: string | null): string {
  // `=_` cannot occur in base64, and a part that is not encoded is searched for the boundary.
  const boundary = `=_einmal_${filling.boundarySeed}`;
  const head =
    `${headers}To: ${filling.to}\r\nSubject: ${subject}\r\n` +
    `Message-ID: ${filling.messageId}\r\nDate: ${filling.date.toUTCString().replace('GMT', '+0000')}\r\n` +
    `MIME-Version: 1.0\r\n`;
  if (html === null) return head + bodyPart('plain', text, boundary);
  return (
    `${head}Content-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n\r\n` +
    `--${boundary}\r\n${bodyPart('plain', text, boundary)}` +
    `--${boundary}\r\n${bodyPart('html', html, boundary)}--${boundary}--\r\n`
  );
}

function whyFillingRefused(filling: MailFilling): string | null {
  if (!/^[^\p{Cc}\p{Cs}<>]{3,254}$/u.test(filling.to)) return 'to: not an address in its form for sending';
  if (!/^<[\x21-\x3b=\x3f\x41-\x7e]+@[\x21-\x3b=\x3f\x41-\x7e]+>$/.test(filling.messageId)) {
    return 'messageId: not of the form <left@right> in ASCII';
  }
  if (!/^[\w-]{1,60}$/.test(filling.boundarySeed)) return 'boundarySeed: not 1 to 60 letters, digits, - or _';
  return Number.isNaN(filling.date.getTime()) ? 'date: not a date' : null;
}

function convertedText(html: string): Rendered {
  const text = htmlToText(html);
  return text === null ? { ok: false, rule: 'the html cannot be converted to text' } : { ok: true, text };
}

function limited(rendered: Rendered): Rendered {
  if (!rendered.ok || rendered.text.length <= MAX_PART_LENGTH) return rendered;
  return { ok: false, rule: `longer than ${MAX_PART_LENGTH} characters when rendered` };
}

function failed(field: MailField, rule: string): FilledMail {
  return { ok: false, rule: `${field}: ${rule}` };
}
