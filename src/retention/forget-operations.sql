-- All that is kept of these operations, in one statement with what is left of them instead: that the key was used, and for what.
WITH input AS (
  SELECT i.tenant_id, i.operation_id
  FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
),
forgotten AS (
  DELETE FROM operations o USING input i
  WHERE o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
  RETURNING o.tenant_id, o.operation_id, o.payload_hash, o.state, o.changed_at
),
tombstones AS (
  INSERT INTO operation_tombstones (tenant_id, operation_id, payload_hash, state, ended_at)
  SELECT f.tenant_id, f.operation_id, f.payload_hash, f.state, f.changed_at
  FROM forgotten f
  WHERE :keep_tombstones::boolean
  ORDER BY f.tenant_id, f.operation_id
  ON CONFLICT DO NOTHING
),
requests AS (
  DELETE FROM operation_requests r USING input i
  WHERE r.tenant_id = i.tenant_id AND r.operation_id = i.operation_id
),
tries AS (
  DELETE FROM attempts a USING input i WHERE a.tenant_id = i.tenant_id AND a.operation_id = i.operation_id
),
proofs AS (
  DELETE FROM evidence e USING input i WHERE e.tenant_id = i.tenant_id AND e.operation_id = i.operation_id
),
reports AS (
  DELETE FROM receipts r USING input i WHERE r.tenant_id = i.tenant_id AND r.operation_id = i.operation_id
),
results AS (
  DELETE FROM checkpoints c USING input i WHERE c.tenant_id = i.tenant_id AND c.operation_id = i.operation_id
),
steps AS (
  DELETE FROM step_references s USING input i WHERE s.tenant_id = i.tenant_id AND s.operation_id = i.operation_id
)
SELECT count(*)::integer AS operations FROM forgotten
