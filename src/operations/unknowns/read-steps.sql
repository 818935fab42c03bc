SELECT e.operation_id, e.at, e.step, e.outcome, e.code, e.diagnostic, e.decided_by
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
JOIN evidence e ON e.tenant_id = i.tenant_id AND e.operation_id = i.operation_id
ORDER BY e.evidence_id
