-- The newest fact wins. Says what changed, so that only changes are published.
WITH input AS (
  SELECT i.*
  FROM unnest(:tenants::text[], :address_keys::text[], :scopes::text[], :key_versions::smallint[], :reasons::text[],
              :actives::boolean[], :causes::text[], :fact_times::timestamptz[], :expiries::timestamptz[])
    AS i(tenant_id, address_key, scope, key_version, reason, active, cause, fact_time, expires_at)
),
before AS (
  -- One that has expired is not in force: asking for it again adds it.
  SELECT s.tenant_id, s.address_key, s.scope, s.active AND (s.expires_at IS NULL OR s.expires_at > now()) AS active
  FROM input i JOIN suppressions s USING (tenant_id, address_key, scope)
),
applied AS (
  INSERT INTO suppressions AS s (tenant_id, address_key, scope, key_version, reason, active, cause, fact_time, expires_at)
  SELECT i.tenant_id, i.address_key, i.scope, i.key_version, i.reason, i.active, i.cause, i.fact_time, i.expires_at
  FROM input i
  ORDER BY i.tenant_id, i.address_key, i.scope
  ON CONFLICT (tenant_id, address_key, scope) DO UPDATE
  SET key_version = excluded.key_version, active = excluded.active, cause = excluded.cause,
      fact_time = excluded.fact_time, expires_at = excluded.expires_at,
      -- A lift says why it was lifted, not why the address was suppressed: that stays.
      reason = CASE WHEN excluded.active THEN excluded.reason ELSE s.reason END
  WHERE s.fact_time <= excluded.fact_time
  RETURNING tenant_id, address_key, scope, reason, active, cause
)
SELECT a.tenant_id, a.address_key, a.scope, a.reason, a.active, a.cause
FROM applied a LEFT JOIN before b USING (tenant_id, address_key, scope)
WHERE a.active IS DISTINCT FROM coalesce(b.active, false)
