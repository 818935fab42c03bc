import { refusal } from '../dead-letter-reason.ts';
import type { Refusal } from '../dead-letter-reason.ts';
import { parseRfc3339, RFC3339_PATTERN } from '../rfc3339.ts';

/** An attribute by its name: text from a header or any JSON from a structured event; undefined or null when absent. */
export type AttributeSource = (name: string) => unknown;

export interface Attributes {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly tenantId: string;
  readonly time?: Date;
  readonly subject?: string;
  readonly causationId?: string;
  readonly dataschema?: string;
  readonly datacontenttype?: string;
  readonly traceparent?: string;
  readonly tracestate?: string;
}

export type AttributesReading = { readonly ok: true; readonly attributes: Attributes } | Refusal;

/** Clocks of peers may be ahead by this much. A later time would win "the newest counts" for as long as it lies ahead. */
export const MAX_FUTURE_MS = 3_600_000;

/** Limits in UTF-16 code units. */
const maxLengths = {
  specversion: 16,
  id: 512,
  source: 512,
  type: 256,
  tenantid: 256,
  time: 64,
  subject: 512,
  causationid: 512,
  dataschema: 2048,
  datacontenttype: 256,
} as const;

type AttributeName = keyof typeof maxLengths;
const attributeNames = Object.keys(maxLengths) as readonly AttributeName[];

/** Attributes become headers, log fields and columns: no control characters, and nothing UTF-8 cannot hold. */
const UNSAFE_TEXT = /[\p{Cc}\p{Cs}]/u;

/** W3C Trace Context: an invalid traceparent is ignored, never an error, and then tracestate means nothing either. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

/** Reads and judges the CloudEvents attributes; the tenant is required by us. `now` is compared with `time`. */
export function readAttributes(read: AttributeSource, now: Date): AttributesReading {
  const found = new Map<AttributeName, string>();
  for (const name of attributeNames) {
    const value = read(name) ?? undefined;
    const flaw = value === undefined ? null : textFlaw(value, maxLengths[name]);
    if (flaw !== null) {
      return refusal('not-cloudevent', `the attribute ${name} ${flaw}`);
    }
    if (typeof value === 'string') {
      found.set(name, value);
    }
  }
  return judge(found, traceOf(read), now);
}

function judge(found: ReadonlyMap<AttributeName, string>, trace: Trace, now: Date): AttributesReading {
  if (found.get('specversion') !== '1.0') {
    return refusal('not-cloudevent', 'the attribute specversion is not 1.0');
  }
  const [id, source, type, tenantId] = [found.get('id'), found.get('source'), found.get('type'), found.get('tenantid')];
  if (!id || !source || !type) {
    return refusal('not-cloudevent', 'one of the attributes id, source and type is missing or empty');
  }
  if (!tenantId) {
    return refusal('missing-tenant', 'the attribute tenantid is missing or empty');
  }
  const time = readTime(found.get('time'), now);
  if (!time.ok) {
    return time;
  }
  const optional = withoutAbsent({
    time: time.value,
    subject: found.get('subject'),
    causationId: found.get('causationid'),
    dataschema: found.get('dataschema'),
    datacontenttype: found.get('datacontenttype'),
  });
  return { ok: true, attributes: { id, source, type, tenantId, ...optional, ...trace } };
}

function textFlaw(value: unknown, maxLength: number): string | null {
  if (typeof value !== 'string') {
    return 'is not text in UTF-8';
  }
  if (value.length > maxLength) {
    return `is longer than ${maxLength} characters`;
  }
  return UNSAFE_TEXT.test(value) ? 'holds a control character or a lone surrogate' : null;
}

function readTime(text: string | undefined, now: Date): { ok: true; value: Date | undefined } | Refusal {
  if (text === undefined) {
    return { ok: true, value: undefined };
  }
  const time = parseRfc3339(text);
  if (time === null) {
    return RFC3339_PATTERN.test(text)
      ? refusal('time-out-of-range', 'the attribute time is before 1970, after 9999 or a day that does not exist')
      : refusal('not-cloudevent', 'the attribute time is not an RFC 3339 time with offset');
  }
  return time.getTime() > now.getTime() + MAX_FUTURE_MS
    ? refusal('time-out-of-range', `the attribute time is more than ${MAX_FUTURE_MS / 60_000} minutes in the future`)
    : { ok: true, value: time };
}

export type Trace = Pick<Attributes, 'traceparent' | 'tracestate'>;

/** The trace context of a source, empty unless its traceparent is valid. */
export function traceOf(read: AttributeSource): Trace {
  const traceparent = read('traceparent');
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) {
    return {};
  }
  const tracestate = read('tracestate');
  return typeof tracestate === 'string' && TRACESTATE.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}

type Present<Members> = { readonly [Name in keyof Members]?: Exclude<Members[Name], undefined> };

function withoutAbsent<Members extends object>(members: Members): Present<Members> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<Members>;
}
