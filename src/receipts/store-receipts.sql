-- By reference the operation (or its step) is known at once, whether it is there or not; by effect id, which is that of the step
-- that is to be done now, as soon as a call has told it.
INSERT INTO receipts (tenant_id, provider, receipt_id, reference, effect_id, type, occurred_at, content, step, operation_id,
                      unmatched)
SELECT i.tenant_id, i.provider, i.receipt_id, i.reference, i.effect_id, i.type, i.occurred_at, i.content,
       coalesce(s.step, e.step, 0), spoken_of.operation_id,
       -- Not NOT EXISTS, for which the planner may read all keys at once.
       (SELECT true FROM operations known
        WHERE known.tenant_id = i.tenant_id AND known.operation_id = spoken_of.operation_id) IS NULL
FROM unnest(:tenants::text[], :providers::text[], :receipt_ids::text[], :refs::text[], :referred_ids::uuid[],
            :effect_ids::text[], :types::text[], :occurred_ats::timestamptz[], :contents::json[])
  AS i(tenant_id, provider, receipt_id, reference, referred_id, effect_id, type, occurred_at, content)
LEFT JOIN step_references s ON s.tenant_id = i.tenant_id AND s.reference = i.referred_id
LEFT JOIN LATERAL (
  SELECT o.operation_id, o.step FROM operations o
  WHERE s.operation_id IS NULL AND i.referred_id IS NULL
    AND o.tenant_id = i.tenant_id AND o.effect_id = i.effect_id AND o.provider = i.provider
  LIMIT 1
) e ON true
CROSS JOIN LATERAL (SELECT coalesce(s.operation_id, i.referred_id, e.operation_id) AS operation_id OFFSET 0) spoken_of
ORDER BY i.tenant_id, i.provider, i.receipt_id
ON CONFLICT (tenant_id, provider, receipt_id) DO NOTHING
RETURNING tenant_id, operation_id
