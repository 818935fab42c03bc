-- A statement of its own, after the one that changed the operations: it must see what was stored while that one waited.
SELECT i.tenant_id, i.operation_id
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
WHERE EXISTS (
  SELECT FROM receipts r WHERE r.tenant_id = i.tenant_id AND r.operation_id = i.operation_id
)
