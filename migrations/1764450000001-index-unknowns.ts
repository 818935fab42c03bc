import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes and the validation of checks, outside a transaction. Locks: SHARE UPDATE EXCLUSIVE, which writers do not feel, and for a
 * moment ACCESS EXCLUSIVE to drop a constraint that an index replaces.
 * It can be repeated when it was cut. The way back is one transaction and holds up writers. Backfill: none. Breaking: no.
 */
export class IndexUnknowns1764450000001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const text of UP) await runner.query(text);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const text of DOWN) await runner.query(text);
  }
}

const UP = [
  'DROP INDEX CONCURRENTLY IF EXISTS operations_to_resolve',
  `CREATE INDEX CONCURRENTLY operations_to_resolve ON operations (provider, resolve_at) WHERE state = 'unknown'`,
  'DROP INDEX CONCURRENTLY IF EXISTS operations_unknown',
  `CREATE INDEX CONCURRENTLY operations_unknown ON operations (tenant_id, coalesce(unknown_since, changed_at), operation_id)
     WHERE state = 'unknown'`,
  'DROP INDEX CONCURRENTLY IF EXISTS operations_by_effect',
  `CREATE INDEX CONCURRENTLY operations_by_effect ON operations (tenant_id, effect_id) WHERE effect_id IS NOT NULL`,
  'DROP INDEX CONCURRENTLY IF EXISTS receipts_by_operation',
  `CREATE INDEX CONCURRENTLY receipts_by_operation ON receipts (tenant_id, operation_id) WHERE operation_id IS NOT NULL`,
  'DROP INDEX CONCURRENTLY IF EXISTS receipts_unlinked',
  `CREATE INDEX CONCURRENTLY receipts_unlinked ON receipts (received_at)
     WHERE operation_id IS NULL AND effect_id IS NOT NULL`,
  'DROP INDEX CONCURRENTLY IF EXISTS receipts_by_reference',
  // The key first: an index that begins with the tenant as the primary key does is taken for it while the table is small, and
  // then each look at one operation goes through all of the tenant's.
  'DROP INDEX CONCURRENTLY IF EXISTS operations_key',
  'CREATE UNIQUE INDEX CONCURRENTLY operations_key ON operations (operation_key, tenant_id)',
  'ALTER TABLE operations DROP CONSTRAINT IF EXISTS operations_tenant_id_operation_key_key',
  'ALTER TABLE operations VALIDATE CONSTRAINT operations_lease_check',
  'ALTER TABLE attempts VALIDATE CONSTRAINT attempts_outcome_check',
];

const DOWN = [
  'ALTER TABLE operations ADD CONSTRAINT operations_tenant_id_operation_key_key UNIQUE (tenant_id, operation_key)',
  'DROP INDEX IF EXISTS operations_key',
  `CREATE INDEX IF NOT EXISTS receipts_by_reference ON receipts (tenant_id, reference)
     WHERE reference IS NOT NULL`,
  'DROP INDEX IF EXISTS receipts_unlinked',
  'DROP INDEX IF EXISTS receipts_by_operation',
  'DROP INDEX IF EXISTS operations_by_effect',
  'DROP INDEX IF EXISTS operations_unknown',
  `CREATE INDEX operations_unknown ON operations (tenant_id, changed_at) WHERE state = 'unknown'`,
  'DROP INDEX IF EXISTS operations_to_resolve',
];
