-- In the order of their keys, as everybody locks them. Whoever waits here sees the state that the other has left.
SELECT o.tenant_id, o.operation_id, o.operation_key, o.claim_seq, o.kind, o.state, o.provider, o.payload_hash, o.attempts,
       o.effect_id, o.doubled, o.unknown_since, o.campaign_id, o.causation_id, o.traceparent
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
JOIN operations o ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
WHERE o.claim_seq > 0
ORDER BY o.tenant_id, o.operation_id
FOR NO KEY UPDATE OF o
