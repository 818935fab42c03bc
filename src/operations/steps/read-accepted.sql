-- Steps that were accepted just now, in this transaction, with all that the next one needs.
SELECT o.tenant_id, o.operation_id, o.operation_key, o.claim_seq, o.state, o.step, o.payload_hash, o.effect_id, o.created_at,
       o.provider, o.causation_id, o.traceparent, r.request,
       (SELECT count(*)::integer FROM step_references s
        WHERE s.tenant_id = o.tenant_id AND s.operation_id = o.operation_id) AS steps
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
JOIN operations o ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
-- Erased or scrubbed: the step that was accepted is all that will be done.
LEFT JOIN operation_requests r ON r.tenant_id = o.tenant_id AND r.operation_id = o.operation_id
WHERE o.kind = 'steps' AND o.state IN ('accepted', 'delivered')
