SELECT c.tenant_id, c.operation_id, c.step, c.name, c.result, c.effect_id
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
JOIN checkpoints c ON c.tenant_id = i.tenant_id AND c.operation_id = i.operation_id
ORDER BY c.step
