-- The next step begins as the operation began: its own attempts, its own bytes, its own approval.
UPDATE operations o
SET state = i.state, state_reason = i.reason, step = o.step + 1, provider = i.provider, address_key = i.address_key,
    approval_object = i.approval_object, approval_revision = i.approval_revision, approval_hash = i.approval_hash,
    attempts = 0, throttles = 0, crashes = 0, request_hash = NULL, request_shape = NULL, effect_id = NULL,
    resolved_by = NULL, unknown_since = NULL, not_before = now(), changed_at = now()
FROM unnest(:tenants::text[], :operation_ids::uuid[], :steps::smallint[], :states::text[], :reasons::text[],
            :providers::text[], :address_keys::text[], :approval_objects::text[], :approval_revisions::bigint[],
            :approval_hashes::bytea[])
  AS i(tenant_id, operation_id, step, state, reason, provider, address_key, approval_object, approval_revision,
       approval_hash)
WHERE o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id AND o.step = i.step
  AND o.state IN ('accepted', 'delivered')
RETURNING o.tenant_id, o.operation_id
