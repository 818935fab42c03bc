-- Two providers may give the same id.
SELECT o.operation_id
FROM operations o
WHERE o.tenant_id = :tenant AND o.effect_id = :effect_id
LIMIT 50
