-- A statement of its own, after the one that changed the operations: it must see what was stored while that one waited. Of an
-- operation that was called more than once, the answer to an earlier call may have come while this one was under way.
SELECT i.tenant_id, i.operation_id
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
WHERE EXISTS (
  SELECT FROM receipts r WHERE r.tenant_id = i.tenant_id AND r.operation_id = i.operation_id
) OR EXISTS (
  SELECT FROM attempts a WHERE a.tenant_id = i.tenant_id AND a.operation_id = i.operation_id OFFSET 1
)
