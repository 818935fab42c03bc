-- Ends or gives back what was claimed and not called. The number goes up: whoever still holds the old one writes nothing.
UPDATE operations o
SET state = i.state, state_reason = i.reason, claim_seq = o.claim_seq + 1, claimed_by = NULL, lease_until = NULL,
    changed_at = now()
FROM unnest(:tenants::text[], :operation_ids::uuid[], :claim_seqs::bigint[], :states::text[], :reasons::text[])
  AS i(tenant_id, operation_id, claim_seq, state, reason)
WHERE o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id AND o.claim_seq = i.claim_seq AND o.state = 'claimed'
RETURNING o.tenant_id, o.operation_id
