import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes for what people look at and for retention, outside a transaction. Locks: SHARE UPDATE EXCLUSIVE, which writers do not
 * feel. It can be repeated when it was cut. The way back is one transaction. Backfill: none. Breaking: no.
 */
export class IndexEnded1764460000001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const text of UP) await runner.query(text);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const text of DOWN) await runner.query(text);
  }
}

const UP = [
  'DROP INDEX CONCURRENTLY IF EXISTS operations_ended_badly',
  // Without those that went well: they are many, and this index costs them nothing.
  `CREATE INDEX CONCURRENTLY operations_ended_badly ON operations (tenant_id, state, changed_at, operation_id)
     WHERE state IN ('suppressed', 'rejected', 'expired', 'cancelled', 'dead', 'bounced', 'complained')`,
  'ALTER TABLE operations VALIDATE CONSTRAINT operations_kind_check',
];

const DOWN = ['DROP INDEX IF EXISTS operations_ended_badly'];
