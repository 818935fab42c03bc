-- Generated from the migrations by `npm run schema`; a test compares the two.

CREATE TABLE approvals (
  tenant_id text NOT NULL,
  object text NOT NULL,
  revision bigint NOT NULL,
  hash text,
  granted boolean NOT NULL,
  decided_by text NOT NULL,
  reason text,
  expires_at timestamp with time zone,
  fact_time timestamp with time zone NOT NULL,
  CONSTRAINT approvals_pkey PRIMARY KEY (tenant_id, object, revision),
  CONSTRAINT approvals_check CHECK (((NOT granted) OR (hash IS NOT NULL)))
);

CREATE TABLE attempts (
  tenant_id text NOT NULL,
  operation_id uuid NOT NULL,
  claim_seq bigint NOT NULL,
  provider text NOT NULL,
  worker uuid NOT NULL,
  started_at timestamp with time zone NOT NULL DEFAULT now(),
  ended_at timestamp with time zone,
  outcome text,
  code text,
  diagnostic text,
  effect_id text,
  request_hash bytea,
  account text,
  purpose text NOT NULL DEFAULT 'deliver'::text,
  step smallint NOT NULL DEFAULT 0,
  batch_id uuid,
  CONSTRAINT attempts_pkey PRIMARY KEY (tenant_id, operation_id, claim_seq),
  CONSTRAINT attempts_check CHECK (((ended_at IS NULL) = (outcome IS NULL))),
  CONSTRAINT attempts_outcome_check CHECK ((outcome = ANY (ARRAY['accepted'::text, 'not-sent'::text, 'throttled'::text, 'rejected'::text, 'suppressed'::text, 'account'::text, 'ambiguous'::text, 'duplicate'::text, 'concurrent'::text, 'key-mismatch'::text, 'lost'::text]))),
  CONSTRAINT attempts_purpose_check CHECK ((purpose = ANY (ARRAY['deliver'::text, 'replay'::text]))),
  CONSTRAINT attempts_request_hash_check CHECK ((octet_length(request_hash) = 32))
) WITH (fillfactor=85);
CREATE INDEX attempts_by_batch ON public.attempts USING btree (batch_id) WHERE (batch_id IS NOT NULL);

CREATE TABLE audit (
  tenant_id text NOT NULL,
  audit_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at timestamp with time zone NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  object text NOT NULL,
  reason text NOT NULL,
  before json,
  after json,
  CONSTRAINT audit_pkey PRIMARY KEY (tenant_id, audit_id)
);
CREATE INDEX audit_by_object ON public.audit USING btree (tenant_id, object, audit_id);

CREATE TABLE campaign_exclusions (
  tenant_id text NOT NULL,
  campaign_id text NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  CONSTRAINT campaign_exclusions_pkey PRIMARY KEY (tenant_id, campaign_id, subscriber_id)
);

CREATE TABLE campaign_revisions (
  tenant_id text NOT NULL,
  campaign_id text NOT NULL,
  revision bigint NOT NULL,
  content json NOT NULL,
  content_hash text NOT NULL,
  submitted_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT campaign_revisions_pkey PRIMARY KEY (tenant_id, campaign_id, revision)
);

CREATE TABLE campaigns (
  tenant_id text NOT NULL,
  campaign_id text NOT NULL,
  revision bigint NOT NULL,
  content_hash text NOT NULL,
  class text NOT NULL,
  provider text NOT NULL,
  on_unknown text NOT NULL,
  state text NOT NULL,
  state_reason text,
  scheduled_for timestamp with time zone,
  approved_by text,
  audience bigint,
  excluded bigint,
  materialised_through text COLLATE "C",
  causation_id text,
  traceparent text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  changed_at timestamp with time zone NOT NULL DEFAULT now(),
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  scrubbed_at timestamp with time zone,
  CONSTRAINT campaigns_pkey PRIMARY KEY (tenant_id, campaign_id),
  CONSTRAINT campaigns_check CHECK (((state = ANY (ARRAY['drafted'::text, 'cancelled'::text])) OR (approved_by IS NOT NULL))),
  CONSTRAINT campaigns_check1 CHECK (((state <> 'scheduled'::text) OR (scheduled_for IS NOT NULL))),
  CONSTRAINT campaigns_check2 CHECK (((state <> ALL (ARRAY['sending'::text, 'paused'::text, 'completed'::text])) OR ((audience IS NOT NULL) AND (excluded IS NOT NULL) AND (started_at IS NOT NULL)))),
  CONSTRAINT campaigns_check3 CHECK (((state = ANY (ARRAY['completed'::text, 'cancelled'::text])) = (ended_at IS NOT NULL))),
  CONSTRAINT campaigns_class_check CHECK ((class = ANY (ARRAY['marketing'::text, 'transactional'::text]))),
  CONSTRAINT campaigns_on_unknown_check CHECK ((on_unknown = ANY (ARRAY['hold'::text, 'resend'::text, 'assume-sent'::text]))),
  CONSTRAINT campaigns_state_check CHECK ((state = ANY (ARRAY['drafted'::text, 'approved'::text, 'scheduled'::text, 'materialising'::text, 'sending'::text, 'paused'::text, 'completed'::text, 'cancelled'::text])))
);
CREATE INDEX campaigns_in_motion ON public.campaigns USING btree (state, tenant_id, campaign_id) WHERE (state = ANY (ARRAY['approved'::text, 'scheduled'::text, 'materialising'::text, 'sending'::text, 'cancelled'::text]));
CREATE INDEX campaigns_to_forget ON public.campaigns USING btree (tenant_id, ended_at, campaign_id) WHERE (scrubbed_at IS NOT NULL);
CREATE INDEX campaigns_to_scrub ON public.campaigns USING btree (tenant_id, ended_at, campaign_id) WHERE ((ended_at IS NOT NULL) AND (scrubbed_at IS NULL));

CREATE TABLE checkpoints (
  tenant_id text NOT NULL,
  operation_id uuid NOT NULL,
  step smallint NOT NULL,
  name text,
  version integer,
  input_hash bytea,
  result json,
  effect_id text,
  claim_seq bigint NOT NULL,
  accepted_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT checkpoints_pkey PRIMARY KEY (tenant_id, operation_id, step),
  CONSTRAINT checkpoints_input_hash_check CHECK ((octet_length(input_hash) = 32))
);

CREATE TABLE conflicts (
  conflict_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  tenant_id text NOT NULL,
  requests integer NOT NULL,
  told_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT conflicts_pkey PRIMARY KEY (conflict_id),
  CONSTRAINT conflicts_requests_check CHECK ((requests > 0))
);
CREATE INDEX conflicts_by_tenant ON public.conflicts USING btree (tenant_id, told_at);

CREATE TABLE dead_letters (
  dead_letter_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  tenant_id text,
  consumer text NOT NULL,
  topic text NOT NULL,
  partition integer NOT NULL,
  record_offset bigint NOT NULL,
  record_time timestamp with time zone NOT NULL,
  event_source text,
  event_id text,
  event_type text,
  reason text NOT NULL,
  detail text NOT NULL,
  attempts integer NOT NULL,
  record_key bytea,
  record_value bytea,
  headers json NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT dead_letters_consumer_topic_partition_record_offset_record__key UNIQUE (consumer, topic, partition, record_offset, record_time),
  CONSTRAINT dead_letters_pkey PRIMARY KEY (dead_letter_id),
  CONSTRAINT dead_letters_attempts_check CHECK ((attempts > 0))
);
CREATE INDEX dead_letters_by_tenant ON public.dead_letters USING btree (tenant_id, dead_letter_id);

CREATE TABLE erasures (
  tenant_id text NOT NULL,
  erasure_id uuid NOT NULL,
  requested_by text NOT NULL,
  reason text NOT NULL,
  requested_at timestamp with time zone NOT NULL DEFAULT now(),
  subscriber_ids text[] NOT NULL,
  address_keys text[] NOT NULL,
  step text NOT NULL DEFAULT 'operations'::text,
  position text NOT NULL DEFAULT ''::text,
  report json NOT NULL,
  ended_at timestamp with time zone,
  CONSTRAINT erasures_pkey PRIMARY KEY (tenant_id, erasure_id),
  CONSTRAINT erasures_check CHECK (((ended_at IS NULL) = (step <> 'end'::text))),
  CONSTRAINT erasures_check1 CHECK (((ended_at IS NULL) OR ((subscriber_ids = '{}'::text[]) AND (address_keys = '{}'::text[]) AND ("position" = ''::text)))),
  CONSTRAINT erasures_step_check CHECK ((step = ANY (ARRAY['operations'::text, 'campaigns'::text, 'receipts'::text, 'dead-letters'::text, 'dead-letters-of-nobody'::text, 'outbox'::text, 'end'::text])))
);
CREATE INDEX erasures_open ON public.erasures USING btree (requested_at) WHERE (ended_at IS NULL);

CREATE TABLE evidence (
  tenant_id text NOT NULL,
  operation_id uuid NOT NULL,
  evidence_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at timestamp with time zone NOT NULL DEFAULT now(),
  step text NOT NULL,
  outcome text NOT NULL,
  claim_seq bigint,
  code text,
  diagnostic text,
  decided_by text,
  CONSTRAINT evidence_pkey PRIMARY KEY (tenant_id, operation_id, evidence_id),
  CONSTRAINT evidence_step_check CHECK ((step = ANY (ARRAY['replay'::text, 'lookup'::text, 'receipt'::text, 'late-result'::text, 'person'::text, 'policy'::text])))
);

CREATE TABLE inbox (
  consumer text NOT NULL,
  source text NOT NULL,
  event_id text NOT NULL,
  tenant_id text NOT NULL,
  message_hash bytea NOT NULL,
  received_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT inbox_pkey PRIMARY KEY (consumer, source, event_id),
  CONSTRAINT inbox_message_hash_check CHECK ((octet_length(message_hash) = 32))
);
CREATE INDEX inbox_received_at ON public.inbox USING brin (received_at);

CREATE TABLE operation_requests (
  tenant_id text NOT NULL,
  operation_id uuid NOT NULL,
  request json NOT NULL,
  CONSTRAINT operation_requests_pkey PRIMARY KEY (tenant_id, operation_id)
);

CREATE TABLE operation_tombstones (
  tenant_id text NOT NULL,
  operation_id uuid NOT NULL,
  payload_hash bytea,
  state text NOT NULL,
  ended_at timestamp with time zone NOT NULL,
  CONSTRAINT operation_tombstones_pkey PRIMARY KEY (tenant_id, operation_id)
);

CREATE TABLE operations (
  tenant_id text NOT NULL,
  operation_id uuid NOT NULL,
  operation_key text COLLATE "C" NOT NULL,
  kind text,
  class text,
  payload_hash bytea,
  hash_version smallint,
  state text NOT NULL,
  state_reason text,
  provider text,
  priority smallint NOT NULL DEFAULT 5,
  campaign_id text,
  revision bigint,
  subscriber_id text COLLATE "C",
  address_key text COLLATE "C",
  lists text[] NOT NULL DEFAULT '{}'::text[],
  approval_object text,
  approval_revision bigint,
  not_before timestamp with time zone NOT NULL DEFAULT now(),
  deadline timestamp with time zone,
  max_attempts smallint NOT NULL DEFAULT 12,
  on_unknown text NOT NULL DEFAULT 'hold'::text,
  claim_seq bigint NOT NULL DEFAULT 0,
  claimed_by uuid,
  lease_until timestamp with time zone,
  attempts smallint NOT NULL DEFAULT 0,
  effect_id text,
  causation_id text,
  traceparent text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  changed_at timestamp with time zone NOT NULL DEFAULT now(),
  request_hash bytea,
  request_shape json,
  resolve_at timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  unknown_since timestamp with time zone,
  resolved_by text,
  doubled boolean NOT NULL DEFAULT false,
  step smallint NOT NULL DEFAULT 0,
  approval_hash bytea,
  crashes smallint NOT NULL DEFAULT 0,
  throttles integer NOT NULL DEFAULT 0,
  redriven smallint NOT NULL DEFAULT 0,
  scrubbed_at timestamp with time zone,
  CONSTRAINT operations_pkey PRIMARY KEY (tenant_id, operation_id),
  CONSTRAINT operations_approval_hash_check CHECK ((octet_length(approval_hash) = 32)),
  CONSTRAINT operations_check CHECK (((state = 'cancelled'::text) OR ((kind IS NOT NULL) AND (class IS NOT NULL) AND (payload_hash IS NOT NULL) AND (hash_version IS NOT NULL) AND (provider IS NOT NULL)))),
  CONSTRAINT operations_check1 CHECK (((kind <> 'email'::text) OR (state = ANY (ARRAY['rejected'::text, 'cancelled'::text])) OR (address_key IS NOT NULL))),
  CONSTRAINT operations_check3 CHECK (((lease_until IS NULL) = (claimed_by IS NULL))),
  CONSTRAINT operations_check4 CHECK (((state <> ALL (ARRAY['claimed'::text, 'calling'::text, 'unknown'::text, 'accepted'::text, 'delivered'::text, 'bounced'::text, 'complained'::text])) OR (claim_seq > 0))),
  CONSTRAINT operations_check5 CHECK (((state <> ALL (ARRAY['suppressed'::text, 'rejected'::text, 'expired'::text, 'cancelled'::text, 'dead'::text])) OR (state_reason IS NOT NULL))),
  CONSTRAINT operations_check6 CHECK (((approval_object IS NULL) = (approval_revision IS NULL))),
  CONSTRAINT operations_check7 CHECK (((state <> 'awaiting-approval'::text) OR (approval_object IS NOT NULL))),
  CONSTRAINT operations_check8 CHECK (((campaign_id IS NULL) OR ((revision IS NOT NULL) AND (subscriber_id IS NOT NULL)))),
  CONSTRAINT operations_class_check CHECK ((class = ANY (ARRAY['marketing'::text, 'transactional'::text]))),
  CONSTRAINT operations_kind_check CHECK ((kind = ANY (ARRAY['email'::text, 'http'::text, 'steps'::text]))),
  CONSTRAINT operations_lease_check CHECK (((state = 'unknown'::text) OR ((state = ANY (ARRAY['claimed'::text, 'calling'::text])) = (lease_until IS NOT NULL)))),
  CONSTRAINT operations_max_attempts_check CHECK ((max_attempts > 0)),
  CONSTRAINT operations_on_unknown_check CHECK ((on_unknown = ANY (ARRAY['hold'::text, 'resend'::text, 'assume-sent'::text]))),
  CONSTRAINT operations_payload_hash_check CHECK ((octet_length(payload_hash) = 32)),
  CONSTRAINT operations_priority_check CHECK (((priority >= 0) AND (priority <= 9))),
  CONSTRAINT operations_request_hash_check CHECK ((octet_length(request_hash) = 32)),
  CONSTRAINT operations_resolved_by_check CHECK ((resolved_by = ANY (ARRAY['replay'::text, 'lookup'::text, 'receipt'::text, 'late-result'::text, 'person'::text, 'policy'::text]))),
  CONSTRAINT operations_state_check CHECK ((state = ANY (ARRAY['awaiting-approval'::text, 'queued'::text, 'claimed'::text, 'calling'::text, 'accepted'::text, 'delivered'::text, 'bounced'::text, 'complained'::text, 'suppressed'::text, 'rejected'::text, 'unknown'::text, 'expired'::text, 'cancelled'::text, 'dead'::text]))),
  CONSTRAINT operations_step_check CHECK ((step >= 0))
) WITH (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
CREATE INDEX operations_awaiting_approval ON public.operations USING btree (tenant_id, approval_object, approval_revision) WHERE (state = 'awaiting-approval'::text);
CREATE INDEX operations_awaiting_by_time ON public.operations USING btree (tenant_id, changed_at, operation_id) WHERE (state = 'awaiting-approval'::text);
CREATE INDEX operations_by_address ON public.operations USING btree (tenant_id, address_key) WHERE ((campaign_id IS NULL) AND (scrubbed_at IS NULL) AND (address_key IS NOT NULL));
CREATE INDEX operations_by_effect ON public.operations USING btree (tenant_id, effect_id) WHERE (effect_id IS NOT NULL);
CREATE INDEX operations_ended_badly ON public.operations USING btree (tenant_id, state, changed_at, operation_id) WHERE (state = ANY (ARRAY['suppressed'::text, 'rejected'::text, 'expired'::text, 'cancelled'::text, 'dead'::text, 'bounced'::text, 'complained'::text]));
CREATE INDEX operations_leased ON public.operations USING btree (lease_until) WHERE (lease_until IS NOT NULL);
CREATE INDEX operations_queued ON public.operations USING btree (COALESCE(campaign_id, ''::text), tenant_id, provider, priority DESC, not_before) WHERE (state = 'queued'::text);
CREATE INDEX operations_to_forget ON public.operations USING btree (tenant_id, changed_at) WHERE ((campaign_id IS NULL) AND (scrubbed_at IS NOT NULL));
CREATE INDEX operations_to_resolve ON public.operations USING btree (provider, resolve_at) WHERE (state = 'unknown'::text);
CREATE INDEX operations_to_scrub ON public.operations USING btree (tenant_id, changed_at) WHERE ((campaign_id IS NULL) AND (scrubbed_at IS NULL) AND (state = ANY (ARRAY['accepted'::text, 'delivered'::text, 'bounced'::text, 'complained'::text, 'suppressed'::text, 'rejected'::text, 'expired'::text, 'cancelled'::text, 'dead'::text])));
CREATE INDEX operations_unknown ON public.operations USING btree (tenant_id, COALESCE(unknown_since, changed_at), operation_id) WHERE (state = 'unknown'::text);
CREATE INDEX operations_with_deadline ON public.operations USING btree (deadline) WHERE ((state = ANY (ARRAY['queued'::text, 'awaiting-approval'::text])) AND (deadline IS NOT NULL));
CREATE UNIQUE INDEX operations_key ON public.operations USING btree (operation_key, tenant_id);
CREATE UNIQUE INDEX operations_one_per_recipient ON public.operations USING btree (tenant_id, campaign_id, address_key) WHERE (campaign_id IS NOT NULL);

CREATE TABLE outbox (
  bucket smallint NOT NULL,
  outbox_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  topic text NOT NULL,
  message_key bytea,
  headers json NOT NULL,
  message_value bytea,
  tenant_id text,
  recipient_key text,
  recipient_class text,
  recipient_lists text[] NOT NULL DEFAULT '{}'::text[],
  on_suppressed json,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT outbox_pkey PRIMARY KEY (bucket, outbox_id),
  CONSTRAINT outbox_bucket_check CHECK ((bucket >= 0)),
  CONSTRAINT outbox_check CHECK (((recipient_key IS NULL) OR ((tenant_id IS NOT NULL) AND (recipient_class IS NOT NULL) AND (on_suppressed IS NOT NULL)))),
  CONSTRAINT outbox_recipient_class_check CHECK ((recipient_class = ANY (ARRAY['marketing'::text, 'transactional'::text])))
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
CREATE INDEX outbox_by_recipient ON public.outbox USING btree (tenant_id, recipient_key) WHERE (recipient_key IS NOT NULL);

CREATE TABLE outbox_buckets (
  bucket smallint NOT NULL,
  owner uuid,
  fence bigint NOT NULL DEFAULT 0,
  lease_until timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  CONSTRAINT outbox_buckets_pkey PRIMARY KEY (bucket),
  CONSTRAINT outbox_buckets_bucket_check CHECK ((bucket >= 0))
);

CREATE TABLE outbox_relays (
  relay_id uuid NOT NULL,
  alive_until timestamp with time zone NOT NULL,
  CONSTRAINT outbox_relays_pkey PRIMARY KEY (relay_id)
);

CREATE TABLE provider_stops (
  provider text NOT NULL,
  code text NOT NULL,
  diagnostic text NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT now(),
  until timestamp with time zone NOT NULL,
  stops integer NOT NULL DEFAULT 1,
  CONSTRAINT provider_stops_pkey PRIMARY KEY (provider)
);

CREATE TABLE rate_tokens (
  tenant_id text NOT NULL,
  provider text NOT NULL,
  tokens double precision NOT NULL,
  refilled_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT rate_tokens_pkey PRIMARY KEY (tenant_id, provider)
);

CREATE TABLE receipts (
  tenant_id text NOT NULL,
  provider text NOT NULL,
  receipt_id text NOT NULL,
  reference text,
  effect_id text,
  type text NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  content json NOT NULL,
  received_at timestamp with time zone NOT NULL DEFAULT now(),
  operation_id uuid,
  step smallint NOT NULL DEFAULT 0,
  unmatched boolean NOT NULL DEFAULT false,
  CONSTRAINT receipts_pkey PRIMARY KEY (tenant_id, provider, receipt_id),
  CONSTRAINT receipts_type_check CHECK ((type = ANY (ARRAY['accepted'::text, 'delivered'::text, 'deferred'::text, 'bounced'::text, 'complained'::text, 'rejected'::text, 'unsubscribed'::text])))
);
CREATE INDEX receipts_by_operation ON public.receipts USING btree (tenant_id, operation_id) WHERE (operation_id IS NOT NULL);
CREATE INDEX receipts_unlinked ON public.receipts USING btree (received_at) WHERE ((operation_id IS NULL) AND (effect_id IS NOT NULL));
CREATE INDEX receipts_unmatched ON public.receipts USING btree (tenant_id, received_at, provider, receipt_id) WHERE unmatched;

CREATE TABLE step_references (
  tenant_id text NOT NULL,
  reference uuid NOT NULL,
  operation_id uuid NOT NULL,
  step smallint NOT NULL,
  CONSTRAINT step_references_pkey PRIMARY KEY (tenant_id, reference)
);
CREATE INDEX step_references_by_operation ON public.step_references USING btree (tenant_id, operation_id);

CREATE TABLE subscribers (
  tenant_id text NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  status text NOT NULL,
  email text,
  address_send text,
  address_key text COLLATE "C",
  key_version smallint,
  address_fault text,
  lists text[] NOT NULL DEFAULT '{}'::text[],
  attributes json NOT NULL DEFAULT '{}'::json,
  locale text,
  time_zone text,
  fact_time timestamp with time zone NOT NULL,
  CONSTRAINT subscribers_pkey PRIMARY KEY (tenant_id, subscriber_id),
  CONSTRAINT subscribers_check CHECK (((status = 'deleted'::text) OR (email IS NOT NULL))),
  CONSTRAINT subscribers_check1 CHECK ((((address_key IS NULL) = (address_send IS NULL)) AND ((address_key IS NULL) = (key_version IS NULL)))),
  CONSTRAINT subscribers_check2 CHECK (((status = 'deleted'::text) OR ((address_key IS NULL) = (address_fault IS NOT NULL)))),
  CONSTRAINT subscribers_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'confirmed'::text, 'unsubscribed'::text, 'deleted'::text])))
);
CREATE INDEX subscribers_by_address ON public.subscribers USING btree (tenant_id, address_key) WHERE (address_key IS NOT NULL);

CREATE TABLE suppressions (
  tenant_id text NOT NULL,
  address_key text COLLATE "C" NOT NULL,
  scope text NOT NULL,
  key_version smallint NOT NULL,
  reason text NOT NULL,
  active boolean NOT NULL,
  cause text NOT NULL,
  fact_time timestamp with time zone NOT NULL,
  expires_at timestamp with time zone,
  CONSTRAINT suppressions_pkey PRIMARY KEY (tenant_id, address_key, scope),
  CONSTRAINT suppressions_reason_check CHECK ((reason = ANY (ARRAY['unsubscribed'::text, 'hard-bounce'::text, 'complaint'::text, 'manual'::text]))),
  CONSTRAINT suppressions_scope_check CHECK (((scope = ANY (ARRAY['all'::text, 'marketing'::text])) OR (scope ~~ 'list:%'::text)))
);

CREATE TABLE token_rates (
  tenant_id text NOT NULL,
  token_name text NOT NULL,
  tokens double precision NOT NULL,
  refilled_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT token_rates_pkey PRIMARY KEY (tenant_id, token_name)
);

CREATE OR REPLACE FUNCTION public.suppression_of(tenant text, recipient text, mail_class text, mail_lists text[])
 RETURNS TABLE(scope text, reason text)
 LANGUAGE sql
 STABLE
AS $function$
      SELECT s.scope, s.reason
      FROM suppressions s
      WHERE s.tenant_id = tenant COLLATE "default" AND s.address_key = recipient COLLATE "C"
        AND s.active AND (s.expires_at IS NULL OR s.expires_at > now())
        AND (s.scope = 'all'
          OR (mail_class = 'marketing'
              AND (s.scope = 'marketing' OR (s.scope LIKE 'list:%' AND substr(s.scope, 6) = ANY (mail_lists)))))
      ORDER BY s.scope
      LIMIT 1
    $function$;
