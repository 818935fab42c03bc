-- Each by its partial index: it costs the same with ten million finished operations in the ledger. What is queued is held to its index
-- by a comparison with the first column that is always true.
WITH leased AS MATERIALIZED (
  SELECT o.tenant_id, o.state, o.changed_at
  FROM operations o
  WHERE o.lease_until > '-infinity' AND o.lease_until IS NOT NULL
)
SELECT 'queued' AS of, count(*)::float8 AS operations,
       extract(epoch FROM now() - min(o.not_before) FILTER (WHERE o.not_before <= now()))::float8 AS oldest_seconds
FROM operations o
WHERE coalesce(o.campaign_id, '') >= '' AND o.tenant_id = :tenant AND o.state = 'queued'
UNION ALL
SELECT 'awaiting-approval', count(*)::float8, extract(epoch FROM now() - min(o.changed_at))::float8
FROM operations o
WHERE o.tenant_id = :tenant AND o.state = 'awaiting-approval'
UNION ALL
SELECT l.state, count(*)::float8, extract(epoch FROM now() - min(l.changed_at))::float8
FROM leased l
WHERE l.tenant_id = :tenant AND l.state IN ('claimed', 'calling')
GROUP BY l.state
UNION ALL
SELECT 'unknown', count(*)::float8, extract(epoch FROM now() - min(coalesce(o.unknown_since, o.changed_at)))::float8
FROM operations o
WHERE o.tenant_id = :tenant AND o.state = 'unknown'
UNION ALL
SELECT 'needs-person', count(*)::float8, NULL
FROM operations o
WHERE o.tenant_id = :tenant AND o.state = 'unknown' AND o.resolve_at = 'infinity'
UNION ALL
SELECT 'conflicts', coalesce(sum(c.requests), 0)::float8, NULL
FROM conflicts c
WHERE c.tenant_id = :tenant AND c.told_at > now() - interval '1 day'
