SELECT r.provider, r.receipt_id, r.type, r.occurred_at, r.effect_id
FROM receipts r
WHERE r.tenant_id = :tenant AND r.operation_id = :operation_id
ORDER BY r.occurred_at, r.receipt_id
LIMIT 200
