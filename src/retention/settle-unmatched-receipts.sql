-- Receipts that no operation was there for. The operation has come since, and looks after them; or they speak of nothing that
-- is known here, and go.
WITH page AS MATERIALIZED (
  SELECT r.tenant_id, r.provider, r.receipt_id, r.operation_id
  FROM receipts r
  WHERE r.tenant_id = :tenant AND r.unmatched AND r.received_at < now() - make_interval(days => :days)
  ORDER BY r.tenant_id, r.received_at, r.provider, r.receipt_id
  LIMIT :page_size
  FOR UPDATE SKIP LOCKED
),
matched AS (
  UPDATE receipts r
  SET unmatched = false, content = CASE WHEN o.scrubbed_at IS NULL THEN r.content ELSE '{}' END
  FROM page p
  -- OFFSET 0 keeps a search by its key from becoming a join over all of the tenant's operations.
  CROSS JOIN LATERAL (
    SELECT known.scrubbed_at FROM operations known
    WHERE known.tenant_id = p.tenant_id AND known.operation_id = p.operation_id
    OFFSET 0
  ) o
  WHERE r.tenant_id = p.tenant_id AND r.provider = p.provider AND r.receipt_id = p.receipt_id
),
gone AS (
  DELETE FROM receipts r USING page p
  WHERE r.tenant_id = p.tenant_id AND r.provider = p.provider AND r.receipt_id = p.receipt_id
    AND NOT EXISTS (
      SELECT FROM operations o WHERE o.tenant_id = p.tenant_id AND o.operation_id = p.operation_id
    )
)
SELECT count(*)::integer AS receipts FROM page
