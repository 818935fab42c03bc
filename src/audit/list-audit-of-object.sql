-- A text of its own: one that asked whether an object is given would read all of the tenant's rows.
SELECT audit_id, at, actor, action, object, reason, before, after
FROM audit
WHERE tenant_id = :tenant AND object = :object AND audit_id < :before_id
ORDER BY audit_id DESC
LIMIT :limit
