-- The ledger's one way in: a key that is taken changes nothing. Keys sorted, so that two batches never deadlock.
-- Whether a deadline has passed is decided by the database's clock, and then nothing is queued.
WITH input AS (
  SELECT i.*
  FROM unnest(:tenants::text[], :operation_ids::uuid[], :keys::text[], :kinds::text[], :classes::text[],
              :hashes::bytea[], :hash_versions::smallint[], :states::text[], :reasons::text[], :providers::text[],
              :priorities::smallint[], :campaigns::text[], :revisions::bigint[], :subscribers::text[],
              :address_keys::text[], :lists::json[], :approval_objects::text[], :approval_revisions::bigint[],
              :not_befores::timestamptz[], :deadlines::timestamptz[], :max_attempts::smallint[],
              :on_unknowns::text[], :causations::text[], :traceparents::text[], :requests::json[],
              :approval_hashes::bytea[], :step_references::json[])
    AS i(tenant_id, operation_id, operation_key, kind, class, payload_hash, hash_version, state, state_reason, provider,
         priority, campaign_id, revision, subscriber_id, address_key, lists, approval_object, approval_revision,
         not_before, deadline, max_attempts, on_unknown, causation_id, traceparent, request, approval_hash, step_references)
),
inserted AS (
  INSERT INTO operations (tenant_id, operation_id, operation_key, kind, class, payload_hash, hash_version,
                          state, state_reason, provider, priority, campaign_id, revision, subscriber_id, address_key,
                          lists, approval_object, approval_revision, approval_hash, not_before, deadline, max_attempts,
                          on_unknown, causation_id, traceparent)
  SELECT i.tenant_id, i.operation_id, i.operation_key, i.kind, i.class, i.payload_hash, i.hash_version,
         CASE WHEN i.state IN ('queued', 'awaiting-approval') AND i.deadline <= now() THEN 'expired' ELSE i.state END,
         CASE WHEN i.state IN ('queued', 'awaiting-approval') AND i.deadline <= now()
              THEN 'the deadline had passed when the request arrived' ELSE i.state_reason END,
         i.provider, i.priority, i.campaign_id, i.revision, i.subscriber_id, i.address_key,
         coalesce(array(SELECT json_array_elements_text(i.lists)), '{}'), i.approval_object, i.approval_revision,
         i.approval_hash, coalesce(i.not_before, now()), i.deadline, i.max_attempts, i.on_unknown, i.causation_id, i.traceparent
  FROM input i
  ORDER BY i.tenant_id, i.operation_id
  ON CONFLICT DO NOTHING
  RETURNING tenant_id, operation_id, state, state_reason
),
-- Of steps alone; a repeated request has the same ones.
named AS (
  INSERT INTO step_references (tenant_id, reference, operation_id, step)
  SELECT i.tenant_id, named.reference::uuid, i.operation_id, named.position - 1
  FROM input i
  CROSS JOIN LATERAL json_array_elements_text(i.step_references) WITH ORDINALITY AS named(reference, position)
  ON CONFLICT DO NOTHING
),
-- A join of the two by grouping: the planner knows the size of neither, and a nested loop of both would be quadratic.
requests AS (
  INSERT INTO operation_requests (tenant_id, operation_id, request)
  SELECT tenant_id, operation_id, (array_agg(request) FILTER (WHERE NOT is_new))[1]
  FROM (
    SELECT tenant_id, operation_id, request, false AS is_new FROM input
    UNION ALL
    SELECT tenant_id, operation_id, NULL, true FROM inserted
  ) both_sides
  GROUP BY tenant_id, operation_id
  HAVING bool_or(is_new)
  ON CONFLICT DO NOTHING
)
SELECT tenant_id, operation_id, state, state_reason FROM inserted
