INSERT INTO receipts (tenant_id, provider, receipt_id, reference, effect_id, type, occurred_at, content)
SELECT i.tenant_id, i.provider, i.receipt_id, i.reference, i.effect_id, i.type, i.occurred_at, i.content
FROM unnest(:tenants::text[], :providers::text[], :receipt_ids::text[], :refs::text[], :effect_ids::text[],
            :types::text[], :occurred_ats::timestamptz[], :contents::json[])
  AS i(tenant_id, provider, receipt_id, reference, effect_id, type, occurred_at, content)
ORDER BY i.tenant_id, i.provider, i.receipt_id
ON CONFLICT (tenant_id, provider, receipt_id) DO NOTHING
