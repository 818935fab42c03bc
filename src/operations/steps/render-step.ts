import { compileTemplate, type TemplateKind } from '../../mail/template.ts';
import { storableReason } from '../../messaging/storable-text.ts';
import { errorCode } from '../../runtime/service-error.ts';
import { payloadHash } from '../payload-hash.ts';
import type { FrozenStep, StepResults } from './frozen-steps.ts';

export type RenderedStep =
  | {
      readonly ok: true;
      readonly request: Readonly<Record<string, unknown>>;
      /** 32 bytes. */ readonly inputHash: Buffer;
    }
  | { readonly ok: false; readonly rule: string };

/** Of texts in a body; deeper ones are refused by the contract's limits before they get here. */
const ONE_OUTPUT = /^\{\{\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*\}\}$/;
/** A rendered body is a request, and no document. */
const MAX_TEXT_LENGTH = 500_000;

class NotRendered extends Error {}

/**
 * The request of a step with the results of earlier ones in it. Pure: the same step and results give the same request, and so
 * the same hash. What is not there is refused: a step never goes out with a hole in it.
 *
 * Mails are Liquid templates already, filled later with `data` and `steps`; of a call the path, the values of headers and all
 * texts of the body are. A text that is one output and nothing else becomes the value itself, of whatever type.
 */
export function renderStep(step: FrozenStep, steps: StepResults, at: Date): RenderedStep {
  try {
    const data = { steps };
    const { request } = step;
    const rendered = step.kind === 'email' ? renderMail(request, data, at) : renderCall(request, data, at);
    const hash = payloadHash({ kind: step.kind, request: rendered });
    return { ok: true, request: rendered, inputHash: Buffer.from(hash.slice('sha256:'.length), 'hex') };
  } catch (error) {
    if (error instanceof NotRendered) return { ok: false, rule: storableReason(`${step.name}: ${error.message}`) };
    // An answer of an earlier step may be nested deeper than anything that can be hashed.
    if (errorCode(error) === 'not-canonical') return { ok: false, rule: `${step.name}: not JSON that can be hashed` };
    throw error;
  }
}

type Data = Readonly<{ steps: StepResults }>;

/** Subject and bodies with `steps` as further data: finished texts, so that the hash covers what is sent. */
function renderMail(request: FrozenStep['request'], data: Data, at: Date): Record<string, unknown> {
  const { data: own, ...rest } = request;
  const all = { ...(isObject(own) ? own : {}), ...data };
  const kinds = { subject: 'strict-plain', html: 'strict-html', text: 'strict-plain' } as const;
  const rendered: Record<string, unknown> = { ...rest };
  for (const [field, kind] of Object.entries(kinds)) {
    const text = request[field];
    if (typeof text === 'string') rendered[field] = renderText(text, kind, all, at, field);
  }
  return rendered;
}

function renderCall(request: FrozenStep['request'], data: Data, at: Date): Record<string, unknown> {
  const { path, headers, body } = request;
  return {
    ...request,
    path: renderText(String(path), 'path', data, at, 'path'),
    ...(isObject(headers) ? { headers: renderHeaders(headers, data, at) } : {}),
    ...(body === undefined ? {} : { body: renderValue(body, data, at, 'body') }),
  };
}

function renderHeaders(headers: object, data: Data, at: Date): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => {
    const text = renderText(String(value), 'strict-plain', data, at, `headers.${name}`);
    if (/[\p{Cc}\p{Cs}]/u.test(text)) throw new NotRendered(`headers.${name}: holds a control character`);
    return [name, text] as const;
  });
  return Object.fromEntries(entries);
}

function renderValue(value: unknown, data: Data, at: Date, field: string): unknown {
  if (typeof value === 'string') return renderLeaf(value, data, at, field);
  if (Array.isArray(value)) return value.map((each, index) => renderValue(each, data, at, `${field}[${index}]`));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, each]) => [name, renderValue(each, data, at, `${field}.${name}`)]);
  return Object.fromEntries(members);
}

function renderLeaf(text: string, data: Data, at: Date, field: string): unknown {
  if (!/\{[{%]/.test(text)) return text;
  const path = ONE_OUTPUT.exec(text)?.[1];
  return path === undefined ? renderText(text, 'strict-plain', data, at, field) : valueAt(path.split('.'), data, field);
}

function valueAt(path: readonly string[], data: Data, field: string): unknown {
  let value: unknown = data;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name))
      throw new NotRendered(`${field}: ${path.join('.')} is not there`);
    value = Reflect.get(value, name);
  }
  return value;
}

function renderText(text: string, kind: TemplateKind, data: object, at: Date, field: string): string {
  if (!/\{[{%]/.test(text)) return text;
  const compiled = compileTemplate(text, kind);
  if (!compiled.ok) throw new NotRendered(`${field}: ${compiled.rule}`);
  const rendered = compiled.template.render({ ...data }, at);
  if (!rendered.ok) throw new NotRendered(`${field}: ${rendered.rule}`);
  if (rendered.text.length > MAX_TEXT_LENGTH)
    throw new NotRendered(`${field}: longer than ${MAX_TEXT_LENGTH} characters`);
  return rendered.text;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
