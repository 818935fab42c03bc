SELECT e.requested_at, e.ended_at, e.report
FROM erasures e
WHERE e.tenant_id = :tenant AND e.erasure_id = :erasure_id
