-- Who was in a batch, as its call was composed, whatever has become of them since.
SELECT o.tenant_id, o.operation_id, o.operation_key, o.kind, a.step, o.class, o.payload_hash, o.campaign_id, o.revision,
       o.created_at, o.request_shape, a.request_hash, r.request
FROM attempts a
JOIN operations o ON o.tenant_id = a.tenant_id AND o.operation_id = a.operation_id
LEFT JOIN operation_requests r ON r.tenant_id = a.tenant_id AND r.operation_id = a.operation_id
WHERE a.batch_id = :batch::uuid AND a.purpose = 'deliver'
