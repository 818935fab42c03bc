-- A cancel request came first and left an operation without a payload: it gets its payload and stays cancelled. Its request
-- arrived just now, and was refused.
UPDATE operations o
SET kind = i.kind, class = i.class, payload_hash = i.payload_hash, hash_version = i.hash_version, provider = i.provider,
    address_key = i.address_key, causation_id = i.causation_id, created_at = now(), changed_at = now(),
    -- It has an address again.
    scrubbed_at = NULL
FROM unnest(:tenants::text[], :operation_ids::uuid[], :kinds::text[], :classes::text[], :hashes::bytea[],
            :hash_versions::smallint[], :providers::text[], :address_keys::text[], :causations::text[])
  AS i(tenant_id, operation_id, kind, class, payload_hash, hash_version, provider, address_key, causation_id)
WHERE o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
  AND o.state = 'cancelled' AND o.payload_hash IS NULL
RETURNING o.tenant_id, o.operation_id
