-- Of the provider that was called, and no other: nobody else can know.
SELECT r.tenant_id, r.operation_id, r.receipt_id, r.type, r.occurred_at, r.effect_id
FROM unnest(:tenants::text[], :operation_ids::uuid[], :providers::text[]) AS i(tenant_id, operation_id, provider)
JOIN operations o ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
JOIN receipts r ON r.tenant_id = i.tenant_id AND r.operation_id = i.operation_id AND r.provider = i.provider
  AND r.step = o.step
ORDER BY r.occurred_at
