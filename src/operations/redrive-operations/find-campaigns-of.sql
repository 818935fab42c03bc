SELECT DISTINCT o.campaign_id
FROM unnest(:tenants::text[], :operation_ids::uuid[], :operation_keys::text[]) AS i(tenant_id, operation_id, operation_key)
JOIN operations o
  ON o.tenant_id = i.tenant_id AND o.operation_key = i.operation_key AND o.operation_id = i.operation_id
WHERE o.campaign_id IS NOT NULL
