import { consumedContract, validate, type ConsumedContract } from '../contracts/registry.ts';
import { problemsInWords } from '../contracts/validate.ts';
import { readEnvelope, type Envelope, type EnvelopeLimits } from '../envelope.ts';
import { messageHash } from '../message-hash.ts';
import type { DeadLetterReason } from '../dead-letter-reason.ts';
import type { ConsumedRecord } from '../kafka/record-chunk.ts';
import type { ConsumedEvent } from './consumed-event.ts';

/** A record that can be handed to a handler. `hash` tells a repeat from another message under the same identity. */
export interface DecodedRecord {
  readonly kind: 'event';
  readonly record: ConsumedRecord;
  readonly event: ConsumedEvent;
  readonly hash: Buffer;
}

/** A record that cannot be handled, with the reason in words. */
export interface RefusedRecord {
  readonly kind: 'refused';
  readonly record: ConsumedRecord;
  readonly reason: DeadLetterReason;
  readonly detail: string;
  readonly envelope?: Pick<Envelope, 'id' | 'source' | 'type' | 'tenantId'>;
}

export interface DecodeRules {
  readonly limits: EnvelopeLimits;
  /** Logical topic name; a type that belongs to another topic is refused. */
  readonly topic: string;
  isTenant(tenantId: string): boolean;
  now(): Date;
}

/** Bytes to an event of a known type, tenant and schema. Never throws for anything that a peer can send. */
export function decodeRecord(record: ConsumedRecord, rules: DecodeRules): DecodedRecord | RefusedRecord {
  const read = readEnvelope(record, rules.limits, rules.now());
  if (!read.ok) return { kind: 'refused', record, reason: read.reason, detail: read.detail };
  const { envelope } = read;
  const refuse = (reason: DeadLetterReason, detail: string): RefusedRecord => ({
    kind: 'refused',
    record,
    reason,
    detail,
    envelope,
  });

  if (!rules.isTenant(envelope.tenantId)) return refuse('unknown-tenant', 'ce_tenantid: no such tenant is configured');
  const contract: ConsumedContract | undefined = consumedContract(envelope.type);
  if (!contract) return refuse('unknown-type', 'ce_type: not a type that is consumed');
  if (contract.topic !== rules.topic) return refuse('wrong-topic', `ce_type: belongs on the topic ${contract.topic}`);
  const checked = validate(contract, envelope.data);
  if (!checked.ok) return refuse('wrong-schema', problemsInWords(checked.problems));
  return {
    kind: 'event',
    record,
    hash: messageHash(envelope.type, envelope.data),
    event: {
      id: envelope.id,
      source: envelope.source,
      type: envelope.type,
      tenantId: envelope.tenantId,
      time: envelope.time ?? record.timestamp,
      ...(envelope.traceparent === undefined ? {} : { traceparent: envelope.traceparent }),
      data: checked.data,
    },
  };
}
