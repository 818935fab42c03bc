import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What was called together. Locks: ACCESS EXCLUSIVE on attempts for a moment; the column comes without a value, so the table is
 * not rewritten. Backfill: none. Breaking: no.
 */
export class Batches1764490000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE attempts
        -- Attempts of one call that carried several operations; it is the key of that call, where the provider has keys.
        ADD COLUMN batch_id uuid
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE attempts DROP COLUMN batch_id');
  }
}
