-- Receipts that no operation was there for, from a place on that keeps the microseconds that a Date would lose.
SELECT to_char(r.received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS received_at, r.provider, r.receipt_id,
       r.content
FROM receipts r
WHERE r.tenant_id = :tenant AND r.unmatched
  AND (r.received_at, r.provider, r.receipt_id) > (:received_at::timestamptz, :provider, :receipt_id)
ORDER BY r.tenant_id, r.received_at, r.provider, r.receipt_id
LIMIT :page_size
