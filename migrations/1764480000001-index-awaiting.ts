import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An index for the list of what waits for an approval, outside a transaction. Locks: SHARE UPDATE EXCLUSIVE, which writers do
 * not feel. It can be repeated when it was cut. The way back is one transaction. Backfill: none. Breaking: no.
 */
export class IndexAwaiting1764480000001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS operations_awaiting_by_time');
    await runner.query(
      `CREATE INDEX CONCURRENTLY operations_awaiting_by_time ON operations (tenant_id, changed_at, operation_id)
         WHERE state = 'awaiting-approval'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX IF EXISTS operations_awaiting_by_time');
  }
}
