SELECT a.hash, a.granted, coalesce(a.expires_at <= now(), false) AS expired
FROM approvals a
WHERE a.tenant_id = :tenant AND a.object = :object AND a.revision = :revision
