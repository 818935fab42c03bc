-- By reference the operation is known at once, whether it is there or not; by effect id as soon as a call has told it.
INSERT INTO receipts (tenant_id, provider, receipt_id, reference, effect_id, type, occurred_at, content, operation_id)
SELECT i.tenant_id, i.provider, i.receipt_id, i.reference, i.effect_id, i.type, i.occurred_at, i.content,
       coalesce(i.referred_id, (
         SELECT o.operation_id FROM operations o
         WHERE o.tenant_id = i.tenant_id AND o.effect_id = i.effect_id AND o.provider = i.provider
         LIMIT 1
       ))
FROM unnest(:tenants::text[], :providers::text[], :receipt_ids::text[], :refs::text[], :referred_ids::uuid[],
            :effect_ids::text[], :types::text[], :occurred_ats::timestamptz[], :contents::json[])
  AS i(tenant_id, provider, receipt_id, reference, referred_id, effect_id, type, occurred_at, content)
ORDER BY i.tenant_id, i.provider, i.receipt_id
ON CONFLICT (tenant_id, provider, receipt_id) DO NOTHING
RETURNING tenant_id, operation_id
