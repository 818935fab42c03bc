-- Ends what has not been called yet. A claimed one loses its claim by the new number; its worker writes nothing more.
UPDATE operations o
SET state = 'cancelled', state_reason = 'erased', claim_seq = o.claim_seq + (o.state = 'claimed')::integer,
    claimed_by = NULL, lease_until = NULL, changed_at = now()
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
WHERE o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
  AND o.state IN ('awaiting-approval', 'queued', 'claimed')
RETURNING o.tenant_id, o.operation_id, o.operation_key, o.payload_hash, o.attempts, o.campaign_id, o.state_reason,
          o.causation_id, o.traceparent
