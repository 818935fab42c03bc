-- Receipts that came after their operation was scrubbed: that they came is kept, and not what they say of whom.
UPDATE receipts r SET content = '{}'
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
JOIN operations o ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
WHERE o.scrubbed_at IS NOT NULL AND r.tenant_id = i.tenant_id AND r.operation_id = i.operation_id
  AND r.content::text <> '{}'
