UPDATE receipts r SET content = '{}'
FROM unnest(:tenants::text[], :providers::text[], :receipt_ids::text[]) AS i(tenant_id, provider, receipt_id)
WHERE r.tenant_id = i.tenant_id AND r.provider = i.provider AND r.receipt_id = i.receipt_id
RETURNING r.receipt_id
