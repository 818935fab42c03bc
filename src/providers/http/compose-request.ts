import { z } from 'zod';
import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import { canonicalJson } from '../../runtime/canonical-json.ts';
import { ServiceError } from '../../runtime/service-error.ts';
import type { Outgoing, OutgoingHttp, OutgoingMail } from '../provider.port.ts';
import { JSON_HEADERS } from '../wire/wire-request.ts';
import type { Composed } from '../wired-provider.ts';
import { fillTemplate, parseTemplate, type ReferenceTemplate } from './reference-template.ts';

type Config = ProviderConfigOf<'http'>;

/** The settings that shape a request, as kept with an operation. */
export const shapeForm = z.object({
  headers: z.record(z.string(), z.string()),
  mail: z.object({ method: z.string(), path: z.string() }).nullable(),
  key: z.object({ header: z.string(), form: z.enum(['raw', 'quoted']) }).nullable(),
});
export type HttpShape = z.output<typeof shapeForm>;

export function shapeOf({ headers, mail, key }: Config): HttpShape {
  return { headers: { ...headers }, mail, key: key === null ? null : { header: key.header, form: key.form } };
}

/** What may be asked for at this endpoint, whatever an operation says. */
export interface Limits {
  readonly methods: readonly string[];
  readonly paths: readonly string[];
  /** Header that proves who asks, lower case. */
  readonly authHeader: string | null;
}

export function composeRequest(outgoing: Outgoing, shape: HttpShape, limits: Limits): Composed {
  return outgoing.kind === 'email' ? composeMail(outgoing, shape) : composeCall(outgoing, shape, limits);
}

function composeMail({ reference, parts, envelope }: OutgoingMail, shape: HttpShape): Composed {
  if (shape.mail === null) return refused('kind: this endpoint takes no mails');
  const { from, replyTo, subject, html, text, headers } = parts;
  const body = { reference, from, replyTo, to: envelope.to, subject, html, text, headers };
  const path = fillTemplate(templateOf(shape.mail.path), reference);
  return requestOf(reference, shape.mail.method, path, {}, body, shape);
}

function composeCall(
  { reference, method, path, headers, body }: OutgoingHttp,
  shape: HttpShape,
  limits: Limits,
): Composed {
  if (!limits.methods.includes(method)) return refused('method: is not allowed at this endpoint');
  if (!isInside(path, limits.paths)) return refused('path: is not allowed at this endpoint');
  const reserved = [...Object.keys(shape.headers), shape.key?.header, limits.authHeader];
  const taken = new Set(reserved.map((name) => name?.toLowerCase()));
  const clash = Object.keys(headers).find((name) => taken.has(name.toLowerCase()));
  if (clash !== undefined) return refused(`headers.${clash}: is set by the endpoint's configuration`);
  return requestOf(reference, method, path, headers, body, shape);
}

function requestOf(
  reference: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  shape: HttpShape,
): Composed {
  const bytes = body === undefined ? null : Buffer.from(canonicalJson(body, 'escape'));
  const usual: Readonly<Record<string, string>> = bytes === null ? { accept: JSON_HEADERS.accept } : JSON_HEADERS;
  const named = new Map<string, string>();
  const all = [usual, shape.headers, headers, keyHeader(shape, reference)];
  for (const each of all) {
    for (const [name, value] of Object.entries(each)) named.set(name.toLowerCase(), value);
  }
  return { ok: true, request: { method, path, headers: Object.fromEntries(named), body: bytes } };
}

function keyHeader({ key }: HttpShape, reference: string): Readonly<Record<string, string>> {
  if (key === null) return {};
  // Quoted: the String of RFC 9651, as the draft of the header asks for.
  return { [key.header]: key.form === 'quoted' ? `"${reference}"` : reference };
}

/** Whether the path stays in one of the allowed parts, also for a server that decodes before it looks at dots. */
function isInside(path: string, allowed: readonly string[]): boolean {
  const [before = ''] = path.split('?', 1);
  const decoded = decode(before);
  if (decoded === null || !path.startsWith('/') || decoded.startsWith('//')) return false;
  if (/[\\\p{Cc}]/u.test(decoded) || decoded.split('/').some((part) => part === '.' || part === '..')) return false;
  return allowed.some((prefix) => before === prefix || before.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`));
}

function decode(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** Of a text that the configuration has checked. @throws ServiceError `bad-template` */
export function templateOf(text: string): ReferenceTemplate {
  const template = parseTemplate(text);
  if (template === null)
    throw new ServiceError('bad-template', 'not a template of the reference', { retryable: false });
  return template;
}

function refused(rule: string): Composed {
  return { ok: false, rule };
}
