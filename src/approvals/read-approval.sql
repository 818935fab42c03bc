SELECT a.hash, a.granted, a.decided_by, a.reason, a.expires_at, a.fact_time
FROM approvals a
WHERE a.tenant_id = :tenant AND a.object = :object AND a.revision = :revision
