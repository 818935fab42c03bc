INSERT INTO approvals AS a (tenant_id, object, revision, hash, granted, decided_by, reason, expires_at, fact_time)
SELECT i.tenant_id, i.object, i.revision, i.hash, i.granted, i.decided_by, i.reason, i.expires_at, i.fact_time
FROM unnest(:tenants::text[], :objects::text[], :revisions::bigint[], :hashes::text[], :granted::boolean[],
            :decided_by::text[], :reasons::text[], :expiries::timestamptz[], :fact_times::timestamptz[])
  AS i(tenant_id, object, revision, hash, granted, decided_by, reason, expires_at, fact_time)
ORDER BY i.tenant_id, i.object, i.revision
ON CONFLICT (tenant_id, object, revision) DO UPDATE
SET hash = excluded.hash, granted = excluded.granted, decided_by = excluded.decided_by, reason = excluded.reason,
    expires_at = excluded.expires_at, fact_time = excluded.fact_time
WHERE a.fact_time <= excluded.fact_time
