SELECT o.operation_id, o.operation_key, o.kind, o.class, o.campaign_id, o.state, o.state_reason, o.payload_hash, o.provider, o.effect_id,
       o.not_before, o.deadline, o.created_at, o.changed_at, o.on_unknown, o.unknown_since, o.resolved_by, o.doubled,
       o.claim_seq, now() AS now
FROM operations o
-- By key and id: with the id alone, a plan made while the table was empty may go through all of the tenant's operations.
WHERE o.tenant_id = :tenant AND o.operation_key = :operation_key AND o.operation_id = :operation_id
