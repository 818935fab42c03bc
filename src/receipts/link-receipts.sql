-- Receipts that came before the call was recorded and know the effect id alone. They are looked for during an hour.
WITH found AS (
  SELECT r.tenant_id, r.provider, r.receipt_id, o.operation_id, o.step
  FROM receipts r
  CROSS JOIN LATERAL (
    SELECT operation_id, step FROM operations
    WHERE operations.tenant_id = r.tenant_id AND operations.effect_id = r.effect_id AND operations.provider = r.provider
    LIMIT 1
  ) o
  WHERE r.operation_id IS NULL AND r.effect_id IS NOT NULL AND r.received_at > now() - interval '1 hour'
  LIMIT :limit
  FOR UPDATE OF r SKIP LOCKED
)
UPDATE receipts r SET operation_id = f.operation_id, step = f.step
FROM found f
WHERE r.tenant_id = f.tenant_id AND r.provider = f.provider AND r.receipt_id = f.receipt_id AND r.operation_id IS NULL
RETURNING r.tenant_id, r.operation_id
