import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes for retention and erasure, outside a transaction. Locks: SHARE UPDATE EXCLUSIVE, which writers do not feel. It can be
 * repeated when it was cut. The way back is one transaction. Backfill: receipts that have no operation, in one walk over the
 * table with row locks on those alone. Breaking: no.
 */
export class IndexRetention1764470000001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of INDEXES) {
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${definition}`);
    }
    await runner.query('UPDATE receipts SET unmatched = true WHERE operation_id IS NULL AND NOT unmatched');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name] of INDEXES) await runner.query(`DROP INDEX IF EXISTS ${name}`);
  }
}

const INDEXES: readonly (readonly [name: string, definition: string])[] = [
  // Single operations only: those of campaigns are found by their campaign, and pay nothing here.
  [
    'operations_to_scrub',
    `operations (tenant_id, changed_at) WHERE campaign_id IS NULL AND scrubbed_at IS NULL AND state IN
       ('accepted', 'delivered', 'bounced', 'complained', 'suppressed', 'rejected', 'expired', 'cancelled', 'dead')`,
  ],
  ['operations_to_forget', 'operations (tenant_id, changed_at) WHERE campaign_id IS NULL AND scrubbed_at IS NOT NULL'],
  [
    'operations_by_address',
    `operations (tenant_id, address_key)
       WHERE campaign_id IS NULL AND scrubbed_at IS NULL AND address_key IS NOT NULL`,
  ],
  [
    'campaigns_to_scrub',
    'campaigns (tenant_id, ended_at, campaign_id) WHERE ended_at IS NOT NULL AND scrubbed_at IS NULL',
  ],
  ['campaigns_to_forget', 'campaigns (tenant_id, ended_at, campaign_id) WHERE scrubbed_at IS NOT NULL'],
  ['receipts_unmatched', 'receipts (tenant_id, received_at, provider, receipt_id) WHERE unmatched'],
  ['step_references_by_operation', 'step_references (tenant_id, operation_id)'],
  ['outbox_by_recipient', 'outbox (tenant_id, recipient_key) WHERE recipient_key IS NOT NULL'],
];
