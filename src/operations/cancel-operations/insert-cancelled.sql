-- The request has not arrived yet: it will find its operation cancelled.
INSERT INTO operations (tenant_id, operation_id, operation_key, state, state_reason, causation_id)
SELECT i.tenant_id, i.operation_id, i.operation_key, 'cancelled', i.reason, i.causation_id
FROM unnest(:tenants::text[], :operation_ids::uuid[], :keys::text[], :reasons::text[], :causations::text[])
  AS i(tenant_id, operation_id, operation_key, reason, causation_id)
-- What is over and forgotten cannot be cancelled. What is being forgotten at this moment is withdrawn afterwards.
WHERE NOT EXISTS (
  SELECT FROM operation_tombstones t WHERE t.tenant_id = i.tenant_id AND t.operation_id = i.operation_id
)
ORDER BY i.tenant_id, i.operation_id
ON CONFLICT DO NOTHING
RETURNING tenant_id, operation_id
