-- Deliveries that were replaced in the outbox. One that is still being recorded is told, so that it is tried again.
WITH suppressed AS (
  UPDATE operations o
  SET state = 'suppressed', state_reason = 'suppressed before it was published', changed_at = now()
  FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
  WHERE o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id AND o.state = 'accepted'
)
SELECT o.operation_id
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
JOIN operations o ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
WHERE o.state = 'calling'
