-- Deliveries that were replaced in the outbox. One that is still being recorded is told, so that it is tried again.
WITH suppressed AS (
  UPDATE operations o
  SET state = 'suppressed', state_reason = 'suppressed before it was published', changed_at = now()
  FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
  WHERE o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id AND o.state = 'accepted'
  RETURNING o.tenant_id, o.operation_id, o.claim_seq
),
-- Else the attempt would be evidence of an effect.
told AS (
  UPDATE attempts a SET outcome = 'suppressed'
  FROM suppressed s
  WHERE a.tenant_id = s.tenant_id AND a.operation_id = s.operation_id AND a.claim_seq = s.claim_seq
)
SELECT o.operation_id
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
JOIN operations o ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
WHERE o.state = 'calling'
