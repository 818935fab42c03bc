import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { OperationState } from './operation.states.ts';

/** A row of the ledger, for reading. Every write is a statement that names the state it comes from. */
@Entity('operations')
export class OperationEntity {
  @PrimaryColumn({ name: 'tenant_id', type: 'text' })
  tenantId!: string;

  @PrimaryColumn({ name: 'operation_id', type: 'uuid' })
  operationId!: string;

  @Column({ name: 'operation_key', type: 'text' })
  operationKey!: string;

  @Column({ type: 'text', nullable: true })
  kind!: 'email' | 'http' | null;

  @Column({ type: 'text', nullable: true })
  class!: 'marketing' | 'transactional' | null;

  @Column({ name: 'payload_hash', type: 'bytea', nullable: true })
  payloadHash!: Buffer | null;

  @Column({ type: 'text' })
  state!: OperationState;

  @Column({ name: 'state_reason', type: 'text', nullable: true })
  stateReason!: string | null;

  @Column({ type: 'text', nullable: true })
  provider!: string | null;

  @Column({ name: 'campaign_id', type: 'text', nullable: true })
  campaignId!: string | null;

  @Column({ name: 'effect_id', type: 'text', nullable: true })
  effectId!: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  deadline!: Date | null;

  @Column({ name: 'not_before', type: 'timestamptz' })
  notBefore!: Date;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'changed_at', type: 'timestamptz' })
  changedAt!: Date;
}

/** One try of an operation. */
@Entity('attempts')
export class AttemptEntity {
  @PrimaryColumn({ name: 'tenant_id', type: 'text' })
  tenantId!: string;

  @PrimaryColumn({ name: 'operation_id', type: 'uuid' })
  operationId!: string;

  @PrimaryColumn({ name: 'claim_seq', type: 'bigint' })
  claimNumber!: string;

  @Column({ type: 'text' })
  provider!: string;

  @Column({ name: 'started_at', type: 'timestamptz' })
  startedAt!: Date;

  @Column({ name: 'ended_at', type: 'timestamptz', nullable: true })
  endedAt!: Date | null;

  @Column({ type: 'text', nullable: true })
  outcome!: string | null;

  @Column({ type: 'text', nullable: true })
  code!: string | null;

  @Column({ type: 'text', nullable: true })
  diagnostic!: string | null;

  @Column({ name: 'effect_id', type: 'text', nullable: true })
  effectId!: string | null;
}
