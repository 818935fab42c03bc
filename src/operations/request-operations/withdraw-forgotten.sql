-- Operations that were inserted just now and whose key was used before, and forgotten. A statement of its own, after the insert:
-- one that waited for the key's deletion sees the tombstone only with a later snapshot. A tombstone is for ever, so nothing is
-- deleted that another transaction could have seen.
WITH forgotten AS (
  SELECT t.tenant_id, t.operation_id
  FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
  JOIN operation_tombstones t ON t.tenant_id = i.tenant_id AND t.operation_id = i.operation_id
),
requests AS (
  DELETE FROM operation_requests r USING forgotten f
  WHERE r.tenant_id = f.tenant_id AND r.operation_id = f.operation_id
),
steps AS (
  DELETE FROM step_references s USING forgotten f
  WHERE s.tenant_id = f.tenant_id AND s.operation_id = f.operation_id
)
DELETE FROM operations o USING forgotten f
WHERE o.tenant_id = f.tenant_id AND o.operation_id = f.operation_id
RETURNING o.tenant_id, o.operation_id
