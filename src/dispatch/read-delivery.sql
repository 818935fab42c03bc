SELECT o.attempts, o.deadline, o.lists, o.address_key
FROM operations o
WHERE o.tenant_id = :tenant AND o.operation_id = :operation_id::uuid
