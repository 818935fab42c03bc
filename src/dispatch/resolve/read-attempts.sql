SELECT a.tenant_id, a.operation_id, a.started_at, a.purpose, a.outcome, a.account, a.batch_id
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
JOIN operations o ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
JOIN attempts a ON a.tenant_id = o.tenant_id AND a.operation_id = o.operation_id AND a.step = o.step
ORDER BY a.claim_seq
