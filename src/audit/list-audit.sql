SELECT audit_id, at, actor, action, object, reason, before, after
FROM audit
WHERE tenant_id = :tenant AND audit_id < :before_id
ORDER BY audit_id DESC
LIMIT :limit
