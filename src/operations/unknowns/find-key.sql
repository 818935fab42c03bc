SELECT o.operation_key
FROM operations o
WHERE o.tenant_id = :tenant AND o.operation_id = :operation_id
