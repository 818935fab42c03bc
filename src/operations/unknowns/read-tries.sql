SELECT a.operation_id, a.claim_seq, a.purpose, a.provider, a.account, a.started_at, a.ended_at, a.outcome, a.code,
       a.diagnostic, a.effect_id
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
JOIN attempts a ON a.tenant_id = i.tenant_id AND a.operation_id = i.operation_id
ORDER BY a.claim_seq
