import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the resolution of unknown outcomes needs. Locks: ACCESS EXCLUSIVE for a moment on operations, attempts and receipts;
 * columns come with constant defaults, so no table is rewritten, and new checks are validated in the next migration.
 * Backfill: none. Breaking: no; older replicas write rows that the new ones understand.
 */
export class ResolveUnknowns1764450000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const text of [OPERATIONS, ATTEMPTS, RECEIPTS, EVIDENCE, PROVIDER_STOPS, AUDIT]) await runner.query(text);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE audit, provider_stops, evidence;
      ALTER TABLE receipts DROP COLUMN operation_id;
      ALTER TABLE attempts DROP CONSTRAINT attempts_outcome_check, DROP COLUMN request_hash, DROP COLUMN account,
        DROP COLUMN purpose;
      ALTER TABLE attempts ADD CONSTRAINT attempts_outcome_check CHECK (outcome IN
        ('accepted', 'not-sent', 'throttled', 'rejected', 'account', 'ambiguous', 'lost')) NOT VALID;
      ALTER TABLE operations DROP CONSTRAINT operations_lease_check, DROP COLUMN request_hash, DROP COLUMN request_shape,
        DROP COLUMN resolve_at, DROP COLUMN unknown_since, DROP COLUMN resolved_by, DROP COLUMN doubled;
      ALTER TABLE operations ADD CONSTRAINT operations_check2
        CHECK ((state IN ('claimed', 'calling')) = (lease_until IS NOT NULL)) NOT VALID;
    `);
  }
}

const OPERATIONS = `
  ALTER TABLE operations
    -- Of the first attempt; every later one must be the same bytes.
    ADD COLUMN request_hash  bytea CHECK (octet_length(request_hash) = 32),
    ADD COLUMN request_shape json,
    -- While unknown: when to look for evidence again; infinity: a person decides.
    ADD COLUMN resolve_at    timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN unknown_since timestamptz,
    ADD COLUMN resolved_by   text CHECK (resolved_by IN
      ('replay', 'lookup', 'receipt', 'late-result', 'person', 'policy')),
    ADD COLUMN doubled       boolean NOT NULL DEFAULT false,
    DROP CONSTRAINT operations_check2,
    -- An unknown one is leased while somebody resolves it.
    ADD CONSTRAINT operations_lease_check CHECK (
      state = 'unknown' OR (state IN ('claimed', 'calling')) = (lease_until IS NOT NULL)) NOT VALID
`;

const ATTEMPTS = `
  ALTER TABLE attempts
    ADD COLUMN request_hash bytea CHECK (octet_length(request_hash) = 32),
    -- Fingerprint of endpoint and credential: a key counts only where it was first used.
    ADD COLUMN account      text,
    -- replay: the same key again, which cannot double.
    ADD COLUMN purpose      text NOT NULL DEFAULT 'deliver' CHECK (purpose IN ('deliver', 'replay')),
    DROP CONSTRAINT attempts_outcome_check,
    ADD CONSTRAINT attempts_outcome_check CHECK (outcome IN
      ('accepted', 'not-sent', 'throttled', 'rejected', 'suppressed', 'account', 'ambiguous', 'duplicate', 'concurrent',
       'key-mismatch', 'lost')) NOT VALID
`;

const RECEIPTS = `
  -- The operation that it speaks of: by reference at once, by effect id as soon as that is known.
  ALTER TABLE receipts ADD COLUMN operation_id uuid;
`;

const EVIDENCE = `
  CREATE TABLE evidence (
    tenant_id    text        NOT NULL,
    operation_id uuid        NOT NULL,
    evidence_id  bigint      GENERATED ALWAYS AS IDENTITY,
    at           timestamptz NOT NULL DEFAULT now(),
    step         text        NOT NULL CHECK (step IN
      ('replay', 'lookup', 'receipt', 'late-result', 'person', 'policy')),
    outcome      text        NOT NULL,
    claim_seq    bigint,
    code         text,
    diagnostic   text,
    -- Who decided, when it was a person.
    decided_by   text,
    PRIMARY KEY (tenant_id, operation_id, evidence_id)
  );
`;

const PROVIDER_STOPS = `
  -- A provider that refuses the whole account, for all replicas. After \`until\` one operation at a time may try.
  CREATE TABLE provider_stops (
    provider   text        PRIMARY KEY,
    code       text        NOT NULL,
    diagnostic text        NOT NULL,
    since      timestamptz NOT NULL DEFAULT now(),
    until      timestamptz NOT NULL,
    stops      integer     NOT NULL DEFAULT 1
  );
`;

const AUDIT = `
  CREATE TABLE audit (
    tenant_id text        NOT NULL,
    audit_id  bigint      GENERATED ALWAYS AS IDENTITY,
    at        timestamptz NOT NULL DEFAULT now(),
    -- The name of the token, never the token.
    actor     text        NOT NULL,
    action    text        NOT NULL,
    object    text        NOT NULL,
    reason    text        NOT NULL,
    before    json,
    after     json,
    PRIMARY KEY (tenant_id, audit_id)
  );
  CREATE INDEX audit_by_object ON audit (tenant_id, object, audit_id);
`;
