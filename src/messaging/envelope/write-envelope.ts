import { ServiceError } from '../../runtime/service-error.ts';
import { contractOf } from '../contracts/registry.ts';
import type { DataOf, EventType } from '../contracts/registry.ts';

export interface OutgoingEvent<Type extends EventType = EventType> {
  readonly type: Type;
  readonly id: string;
  readonly source: string;
  readonly subject?: string | undefined;
  readonly time: Date;
  readonly tenantId: string;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly causationId?: string | undefined;
  readonly data: DataOf<Type>;
}

export interface WrittenEnvelope {
  readonly headers: Record<string, string>;
  readonly value: Buffer;
  /** `tenant/entity` */
  readonly key: string;
}

const UNSAFE = /[\p{Cc}\p{Cs}]/u;
const UNSAFE_EACH = /[\p{Cc}\p{Cs}]/gu;

/**
 * A CloudEvent in binary mode for any type of the contracts. Control characters and lone surrogates in the subject, which
 * may repeat an operation key, are replaced by their code point in hex, e.g. `%0A`; in any other attribute they throw a
 * ServiceError `unsafe-header`. The data is not validated here: callers are typed, and tests hold them to the contract.
 */
export function writeEnvelope<Type extends EventType>(event: OutgoingEvent<Type>): WrittenEnvelope {
  return {
    headers: headersOf(event),
    value: Buffer.from(JSON.stringify(event.data), 'utf8'),
    key: `${event.tenantId}/${contractOf(event.type).entityKey(event.data)}`,
  };
}

function headersOf(event: Omit<OutgoingEvent, 'data'>): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_source: event.source,
    ce_type: event.type,
    ce_time: event.time.toISOString(),
    ce_tenantid: event.tenantId,
  };
  const optional = {
    ce_subject: event.subject?.replace(UNSAFE_EACH, percentEscape),
    ce_causationid: event.causationId,
    ce_traceparent: event.traceparent,
    ce_tracestate: event.tracestate,
    traceparent: event.traceparent,
    tracestate: event.tracestate,
  };
  for (const [name, value] of Object.entries(optional)) {
    if (value !== undefined && value !== '') {
      headers[name] = value;
    }
  }
  refuseUnsafe(headers);
  return headers;
}

function refuseUnsafe(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (UNSAFE.test(value)) {
      throw new ServiceError('unsafe-header', `the header ${name} would hold a control character or a lone surrogate`, {
        retryable: false,
      });
    }
  }
}

function percentEscape(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
