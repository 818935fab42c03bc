import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Operations of several steps, results, budgets per failure class, retention, rates of tokens. Locks: ACCESS EXCLUSIVE for a
 * moment on operations, attempts and receipts; columns come with constant defaults, so no table is rewritten. The new check of
 * kinds is wider than the old one and is not validated again. Backfill: none. Breaking: no.
 */
export class StepsAndBudgets1764460000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const text of [OPERATIONS, ATTEMPTS, CHECKPOINTS, RETENTION, TOKENS]) await runner.query(text);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE token_rates, operation_tombstones, checkpoints, step_references;
      ALTER TABLE receipts DROP COLUMN step;
      ALTER TABLE attempts DROP COLUMN step;
      ALTER TABLE operations DROP CONSTRAINT operations_kind_check, DROP COLUMN step, DROP COLUMN approval_hash,
        DROP COLUMN crashes, DROP COLUMN throttles, DROP COLUMN scrubbed_at, DROP COLUMN redriven;
      ALTER TABLE operations ADD CONSTRAINT operations_kind_check CHECK (kind IN ('email', 'http')) NOT VALID;
    `);
  }
}

const OPERATIONS = `
  ALTER TABLE operations
    DROP CONSTRAINT operations_kind_check,
    ADD CONSTRAINT operations_kind_check CHECK (kind IN ('email', 'http', 'steps')) NOT VALID,
    -- Of those of kind steps: the one that is to be done now, from 0.
    ADD COLUMN step          smallint NOT NULL DEFAULT 0 CHECK (step >= 0),
    -- What must have been approved; the payload hash when null.
    ADD COLUMN approval_hash bytea CHECK (octet_length(approval_hash) = 32),
    -- Claims that ended without an intent since their worker was lost.
    ADD COLUMN crashes       smallint NOT NULL DEFAULT 0,
    ADD COLUMN throttles     integer  NOT NULL DEFAULT 0,
    ADD COLUMN redriven      smallint NOT NULL DEFAULT 0,
    -- When request, address and results were removed.
    ADD COLUMN scrubbed_at   timestamptz
`;

const ATTEMPTS = `
  ALTER TABLE attempts ADD COLUMN step smallint NOT NULL DEFAULT 0;
  ALTER TABLE receipts ADD COLUMN step smallint NOT NULL DEFAULT 0;
`;

const CHECKPOINTS = `
  CREATE TABLE step_references (
    tenant_id    text     NOT NULL,
    -- What a provider knows the step by.
    reference    uuid     NOT NULL,
    operation_id uuid     NOT NULL,
    step         smallint NOT NULL,
    PRIMARY KEY (tenant_id, reference)
  );

  CREATE TABLE checkpoints (
    tenant_id    text        NOT NULL,
    operation_id uuid        NOT NULL,
    step         smallint    NOT NULL,
    name         text,
    version      integer,
    input_hash   bytea       CHECK (octet_length(input_hash) = 32),
    -- null: it is known that it was done, and not what it answered.
    result       json,
    effect_id    text,
    claim_seq    bigint      NOT NULL,
    accepted_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, operation_id, step)
  );
`;

const RETENTION = `
  -- What is left of a key after its retention, where the tenant keeps anything: that it was used, and for what.
  CREATE TABLE operation_tombstones (
    tenant_id    text        NOT NULL,
    operation_id uuid        NOT NULL,
    payload_hash bytea,
    state        text        NOT NULL,
    ended_at     timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, operation_id)
  );
`;

const TOKENS = `
  CREATE TABLE token_rates (
    tenant_id   text             NOT NULL,
    token_name  text             NOT NULL,
    tokens      double precision NOT NULL,
    refilled_at timestamptz      NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, token_name)
  );
`;
