import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { CampaignState } from './campaign.states.ts';

/** A campaign, for reading. */
@Entity('campaigns')
export class CampaignEntity {
  @PrimaryColumn({ name: 'tenant_id', type: 'text' })
  tenantId!: string;

  @PrimaryColumn({ name: 'campaign_id', type: 'text' })
  campaignId!: string;

  @Column({ type: 'bigint' })
  revision!: string;

  @Column({ name: 'content_hash', type: 'text' })
  contentHash!: string;

  @Column({ type: 'text' })
  state!: CampaignState;

  @Column({ name: 'state_reason', type: 'text', nullable: true })
  stateReason!: string | null;

  @Column({ name: 'approved_by', type: 'text', nullable: true })
  approvedBy!: string | null;

  @Column({ name: 'scheduled_for', type: 'timestamptz', nullable: true })
  scheduledFor!: Date | null;

  @Column({ type: 'bigint', nullable: true })
  audience!: string | null;

  @Column({ type: 'bigint', nullable: true })
  excluded!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'started_at', type: 'timestamptz', nullable: true })
  startedAt!: Date | null;

  @Column({ name: 'ended_at', type: 'timestamptz', nullable: true })
  endedAt!: Date | null;
}
