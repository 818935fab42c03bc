import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The first schema. Locks: none, everything is new. Backfill: none. Breaking: no.
 *
 * Columns of type `json` (not `jsonb`) hold documents that are only ever read whole: they keep U+0000 and lone
 * surrogates as the escapes they arrived in, which `jsonb` refuses. Hot tables carry no foreign keys: their rows are
 * written in one statement with what they belong to, and a key check per row would cost a lock per mail.
 */
export class CreateLedger1764400000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const text of [
      INBOX,
      DEAD_LETTERS,
      OUTBOX,
      SUBSCRIBERS,
      SUPPRESSIONS,
      APPROVALS,
      CAMPAIGNS,
      OPERATIONS,
      ATTEMPTS,
      RECEIPTS,
    ]) {
      await runner.query(text);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION suppression_of(text, text, text, text[])');
    await runner.query(`
      DROP TABLE receipts, rate_tokens, attempts, operation_requests, operations, campaign_exclusions, campaigns,
        campaign_revisions, approvals, suppressions, subscribers, outbox_relays, outbox_buckets, outbox, dead_letters, inbox
    `);
  }
}

const INBOX = `
  CREATE TABLE inbox (
    consumer     text        NOT NULL,
    source       text        NOT NULL,
    event_id     text        NOT NULL,
    tenant_id    text        NOT NULL,
    message_hash bytea       NOT NULL CHECK (octet_length(message_hash) = 32),
    received_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer, source, event_id)
  );
  CREATE INDEX inbox_received_at ON inbox USING brin (received_at);
`;

const DEAD_LETTERS = `
  CREATE TABLE dead_letters (
    dead_letter_id bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id      text,
    consumer       text        NOT NULL,
    topic          text        NOT NULL,
    partition      integer     NOT NULL,
    record_offset  bigint      NOT NULL,
    record_time    timestamptz NOT NULL,
    event_source   text,
    event_id       text,
    event_type     text,
    reason         text        NOT NULL,
    detail         text        NOT NULL,
    attempts       integer     NOT NULL CHECK (attempts > 0),
    record_key     bytea,
    record_value   bytea,
    headers        json        NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    UNIQUE (consumer, topic, partition, record_offset, record_time)
  );
  CREATE INDEX dead_letters_by_tenant ON dead_letters (tenant_id, dead_letter_id);
`;

const OUTBOX = `
  CREATE TABLE outbox (
    bucket        smallint    NOT NULL CHECK (bucket >= 0),
    outbox_id     bigint      GENERATED ALWAYS AS IDENTITY,
    topic         text        NOT NULL,
    message_key   bytea,
    headers       json        NOT NULL,
    message_value bytea,
    tenant_id     text,
    recipient_key text,
    recipient_class text      CHECK (recipient_class IN ('marketing', 'transactional')),
    recipient_lists text[]    NOT NULL DEFAULT '{}',
    on_suppressed json,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (bucket, outbox_id),
    CHECK (recipient_key IS NULL
      OR (tenant_id IS NOT NULL AND recipient_class IS NOT NULL AND on_suppressed IS NOT NULL))
  ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

  CREATE TABLE outbox_buckets (
    bucket      smallint    PRIMARY KEY CHECK (bucket >= 0),
    owner       uuid,
    fence       bigint      NOT NULL DEFAULT 0,
    lease_until timestamptz NOT NULL DEFAULT '-infinity'
  );

  CREATE TABLE outbox_relays (
    relay_id    uuid        PRIMARY KEY,
    alive_until timestamptz NOT NULL
  );
`;

const SUBSCRIBERS = `
  CREATE TABLE subscribers (
    tenant_id     text        NOT NULL,
    subscriber_id text        NOT NULL COLLATE "C",
    status        text        NOT NULL CHECK (status IN ('pending', 'confirmed', 'unsubscribed', 'deleted')),
    email         text,
    address_send  text,
    address_key   text        COLLATE "C",
    key_version   smallint,
    address_fault text,
    lists         text[]      NOT NULL DEFAULT '{}',
    attributes    json        NOT NULL DEFAULT '{}',
    locale        text,
    time_zone     text,
    fact_time     timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, subscriber_id),
    CHECK (status = 'deleted' OR email IS NOT NULL),
    CHECK ((address_key IS NULL) = (address_send IS NULL) AND (address_key IS NULL) = (key_version IS NULL)),
    CHECK (status = 'deleted' OR (address_key IS NULL) = (address_fault IS NOT NULL))
  );
  CREATE INDEX subscribers_by_address ON subscribers (tenant_id, address_key) WHERE address_key IS NOT NULL;
`;

const SUPPRESSIONS = `
  CREATE TABLE suppressions (
    tenant_id    text        NOT NULL,
    address_key  text        NOT NULL COLLATE "C",
    scope        text        NOT NULL CHECK (scope IN ('all', 'marketing') OR scope LIKE 'list:%'),
    key_version  smallint    NOT NULL,
    reason       text        NOT NULL CHECK (reason IN ('unsubscribed', 'hard-bounce', 'complaint', 'manual')),
    active       boolean     NOT NULL,
    cause        text        NOT NULL,
    fact_time    timestamptz NOT NULL,
    expires_at   timestamptz,
    PRIMARY KEY (tenant_id, address_key, scope)
  );

  -- The one rule of who must not be mailed. Inlined by the planner where it is joined laterally. Its arguments take over the
  -- collation of any one of them, and only with the index's own can the index be used.
  CREATE FUNCTION suppression_of(tenant text, recipient text, mail_class text, mail_lists text[])
    RETURNS TABLE (scope text, reason text) LANGUAGE sql STABLE AS $$
      SELECT s.scope, s.reason
      FROM suppressions s
      WHERE s.tenant_id = tenant COLLATE "default" AND s.address_key = recipient COLLATE "C"
        AND s.active AND (s.expires_at IS NULL OR s.expires_at > now())
        AND (s.scope = 'all'
          OR (mail_class = 'marketing'
              AND (s.scope = 'marketing' OR (s.scope LIKE 'list:%' AND substr(s.scope, 6) = ANY (mail_lists)))))
      ORDER BY s.scope
      LIMIT 1
    $$;
`;

const APPROVALS = `
  CREATE TABLE approvals (
    tenant_id   text        NOT NULL,
    object      text        NOT NULL,
    revision    bigint      NOT NULL,
    hash        text,
    granted     boolean     NOT NULL,
    decided_by  text        NOT NULL,
    reason      text,
    expires_at  timestamptz,
    fact_time   timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, object, revision),
    CHECK (NOT granted OR hash IS NOT NULL)
  );
`;

const CAMPAIGNS = `
  CREATE TABLE campaign_revisions (
    tenant_id    text        NOT NULL,
    campaign_id  text        NOT NULL,
    revision     bigint      NOT NULL,
    content      json        NOT NULL,
    content_hash text        NOT NULL,
    submitted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, campaign_id, revision)
  );

  CREATE TABLE campaigns (
    tenant_id     text        NOT NULL,
    campaign_id   text        NOT NULL,
    revision      bigint      NOT NULL,
    content_hash  text        NOT NULL,
    class         text        NOT NULL CHECK (class IN ('marketing', 'transactional')),
    provider      text        NOT NULL,
    on_unknown    text        NOT NULL CHECK (on_unknown IN ('hold', 'resend', 'assume-sent')),
    state         text        NOT NULL CHECK (state IN
      ('drafted', 'approved', 'scheduled', 'materialising', 'sending', 'paused', 'completed', 'cancelled')),
    state_reason  text,
    scheduled_for timestamptz,
    approved_by   text,
    audience      bigint,
    excluded      bigint,
    materialised_through text COLLATE "C",
    causation_id  text,
    traceparent   text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    changed_at    timestamptz NOT NULL DEFAULT now(),
    started_at    timestamptz,
    ended_at      timestamptz,
    PRIMARY KEY (tenant_id, campaign_id),
    CHECK (state IN ('drafted', 'cancelled') OR approved_by IS NOT NULL),
    CHECK (state <> 'scheduled' OR scheduled_for IS NOT NULL),
    CHECK (state NOT IN ('sending', 'paused', 'completed')
      OR (audience IS NOT NULL AND excluded IS NOT NULL AND started_at IS NOT NULL)),
    CHECK ((state IN ('completed', 'cancelled')) = (ended_at IS NOT NULL))
  );
  CREATE INDEX campaigns_in_motion ON campaigns (state, tenant_id, campaign_id)
    WHERE state IN ('approved', 'scheduled', 'materialising', 'sending', 'cancelled');

  CREATE TABLE campaign_exclusions (
    tenant_id     text NOT NULL,
    campaign_id   text NOT NULL,
    subscriber_id text NOT NULL COLLATE "C",
    reason        text NOT NULL,
    PRIMARY KEY (tenant_id, campaign_id, subscriber_id)
  );
`;

const OPERATIONS = `
  CREATE TABLE operations (
    tenant_id     text        NOT NULL,
    operation_id  uuid        NOT NULL,
    operation_key text        NOT NULL COLLATE "C",
    kind          text        CHECK (kind IN ('email', 'http')),
    class         text        CHECK (class IN ('marketing', 'transactional')),
    payload_hash  bytea       CHECK (octet_length(payload_hash) = 32),
    hash_version  smallint,
    state         text        NOT NULL CHECK (state IN
      ('awaiting-approval', 'queued', 'claimed', 'calling', 'accepted', 'delivered', 'bounced', 'complained',
       'suppressed', 'rejected', 'unknown', 'expired', 'cancelled', 'dead')),
    state_reason  text,
    provider      text,
    priority      smallint    NOT NULL DEFAULT 5 CHECK (priority BETWEEN 0 AND 9),
    campaign_id   text,
    revision      bigint,
    subscriber_id text        COLLATE "C",
    address_key   text        COLLATE "C",
    lists         text[]      NOT NULL DEFAULT '{}',
    approval_object   text,
    approval_revision bigint,
    not_before    timestamptz NOT NULL DEFAULT now(),
    deadline      timestamptz,
    max_attempts  smallint    NOT NULL DEFAULT 12 CHECK (max_attempts > 0),
    on_unknown    text        NOT NULL DEFAULT 'hold' CHECK (on_unknown IN ('hold', 'resend', 'assume-sent')),
    claim_seq     bigint      NOT NULL DEFAULT 0,
    claimed_by    uuid,
    lease_until   timestamptz,
    attempts      smallint    NOT NULL DEFAULT 0,
    effect_id     text,
    causation_id  text,
    traceparent   text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    changed_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, operation_id),
    UNIQUE (tenant_id, operation_key),
    -- A cancel request that arrives first leaves a cancelled operation that has no payload yet.
    CHECK (state = 'cancelled'
      OR (kind IS NOT NULL AND class IS NOT NULL AND payload_hash IS NOT NULL AND hash_version IS NOT NULL
          AND provider IS NOT NULL)),
    -- What was cancelled before it was asked for may turn out to have no address that could be mailed.
    CHECK (kind <> 'email' OR state IN ('rejected', 'cancelled') OR address_key IS NOT NULL),
    CHECK ((state IN ('claimed', 'calling')) = (lease_until IS NOT NULL)),
    CHECK ((lease_until IS NULL) = (claimed_by IS NULL)),
    CHECK (state NOT IN ('claimed', 'calling', 'unknown', 'accepted', 'delivered', 'bounced', 'complained')
      OR claim_seq > 0),
    CHECK (state NOT IN ('suppressed', 'rejected', 'expired', 'cancelled', 'dead') OR state_reason IS NOT NULL),
    CHECK ((approval_object IS NULL) = (approval_revision IS NULL)),
    CHECK (state <> 'awaiting-approval' OR approval_object IS NOT NULL),
    CHECK (campaign_id IS NULL OR (revision IS NOT NULL AND subscriber_id IS NOT NULL))
  ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

  CREATE UNIQUE INDEX operations_one_per_recipient ON operations (tenant_id, campaign_id, address_key)
    WHERE campaign_id IS NOT NULL;
  CREATE INDEX operations_queued
    ON operations (coalesce(campaign_id, ''), tenant_id, provider, priority DESC, not_before)
    WHERE state = 'queued';
  -- Not by state: a statement that looks for one operation in this state must not be led to go through all of them.
  CREATE INDEX operations_leased ON operations (lease_until) WHERE lease_until IS NOT NULL;
  CREATE INDEX operations_unknown ON operations (tenant_id, changed_at) WHERE state = 'unknown';
  CREATE INDEX operations_awaiting_approval ON operations (tenant_id, approval_object, approval_revision)
    WHERE state = 'awaiting-approval';
  CREATE INDEX operations_with_deadline ON operations (deadline)
    WHERE state IN ('queued', 'awaiting-approval') AND deadline IS NOT NULL;

  CREATE TABLE operation_requests (
    tenant_id    text NOT NULL,
    operation_id uuid NOT NULL,
    request      json NOT NULL,
    PRIMARY KEY (tenant_id, operation_id)
  );
`;

const ATTEMPTS = `
  CREATE TABLE attempts (
    tenant_id    text        NOT NULL,
    operation_id uuid        NOT NULL,
    claim_seq    bigint      NOT NULL,
    provider     text        NOT NULL,
    worker       uuid        NOT NULL,
    started_at   timestamptz NOT NULL DEFAULT now(),
    ended_at     timestamptz,
    outcome      text        CHECK (outcome IN
      ('accepted', 'not-sent', 'throttled', 'rejected', 'account', 'ambiguous', 'lost')),
    code         text,
    diagnostic   text,
    effect_id    text,
    PRIMARY KEY (tenant_id, operation_id, claim_seq),
    CHECK ((ended_at IS NULL) = (outcome IS NULL))
  ) WITH (fillfactor = 85);

  CREATE TABLE rate_tokens (
    tenant_id   text             NOT NULL,
    provider    text             NOT NULL,
    tokens      double precision NOT NULL,
    refilled_at timestamptz      NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, provider)
  );
`;

const RECEIPTS = `
  CREATE TABLE receipts (
    tenant_id   text        NOT NULL,
    provider    text        NOT NULL,
    receipt_id  text        NOT NULL,
    reference   text,
    effect_id   text,
    type        text        NOT NULL CHECK (type IN
      ('accepted', 'delivered', 'deferred', 'bounced', 'complained', 'rejected', 'unsubscribed')),
    occurred_at timestamptz NOT NULL,
    content     json        NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, provider, receipt_id)
  );
  CREATE INDEX receipts_by_reference ON receipts (tenant_id, reference) WHERE reference IS NOT NULL;
`;
