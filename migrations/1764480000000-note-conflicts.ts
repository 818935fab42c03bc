import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A small table for the figures of the last day. Locks: none that anybody feels. Backfill: none. Breaking: no. */
export class NoteConflicts1764480000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE conflicts (
        conflict_id bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        tenant_id   text        NOT NULL,
        -- Requests that were refused in one transaction, since their keys belong to other payloads.
        requests    integer     NOT NULL CHECK (requests > 0),
        told_at     timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX conflicts_by_tenant ON conflicts (tenant_id, told_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE conflicts');
  }
}
