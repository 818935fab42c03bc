import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What retention and the erasure of persons need. Locks: ACCESS EXCLUSIVE for a moment on campaigns and receipts; columns come
 * with constant defaults, so no table is rewritten. Backfill: in the next migration. Breaking: no.
 */
export class Retention1764470000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const text of [CAMPAIGNS, RECEIPTS, ERASURES]) await runner.query(text);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE erasures;
      ALTER TABLE receipts DROP COLUMN unmatched;
      ALTER TABLE campaigns DROP COLUMN scrubbed_at;
    `);
  }
}

const CAMPAIGNS = `
  -- When the last of its operations lost request and address.
  ALTER TABLE campaigns ADD COLUMN scrubbed_at timestamptz
`;

const RECEIPTS = `
  -- When it came, the ledger had no operation that it speaks of: no operation's retention may ever find it.
  ALTER TABLE receipts ADD COLUMN unmatched boolean NOT NULL DEFAULT false
`;

const ERASURES = `
  CREATE TABLE erasures (
    tenant_id      text        NOT NULL,
    erasure_id     uuid        NOT NULL,
    requested_by   text        NOT NULL,
    reason         text        NOT NULL,
    requested_at   timestamptz NOT NULL DEFAULT now(),
    -- Whom it is about, until it is done.
    subscriber_ids text[]      NOT NULL,
    address_keys   text[]      NOT NULL,
    -- How far it is.
    step           text        NOT NULL DEFAULT 'operations' CHECK (step IN
      ('operations', 'campaigns', 'receipts', 'dead-letters', 'dead-letters-of-nobody', 'outbox', 'end')),
    position       text        NOT NULL DEFAULT '',
    report         json        NOT NULL,
    ended_at       timestamptz,
    PRIMARY KEY (tenant_id, erasure_id),
    CHECK ((ended_at IS NULL) = (step <> 'end')),
    CHECK (ended_at IS NULL OR (subscriber_ids = '{}' AND address_keys = '{}' AND position = ''))
  );
  CREATE INDEX erasures_open ON erasures (requested_at) WHERE ended_at IS NULL;
`;
