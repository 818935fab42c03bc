import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The index by which a batch is found again, outside a transaction. Locks: SHARE UPDATE EXCLUSIVE, which writers do not feel. It
 * can be repeated when it was cut. The way back is one transaction. Backfill: none. Breaking: no.
 */
export class IndexBatches1764490000001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS attempts_by_batch');
    // Calls of their own are most of the table, and cost this index nothing.
    await runner.query('CREATE INDEX CONCURRENTLY attempts_by_batch ON attempts (batch_id) WHERE batch_id IS NOT NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX IF EXISTS attempts_by_batch');
  }
}
