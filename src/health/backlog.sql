-- Only what partial indexes hold: it costs the same with ten million finished operations in the ledger.
SELECT 'queued' AS of, count(*)::integer AS operations,
       coalesce(extract(epoch FROM now() - min(not_before) FILTER (WHERE not_before <= now())), 0)::float8 AS age_seconds
FROM operations WHERE state = 'queued'
UNION ALL
SELECT o.state, count(*)::integer, coalesce(extract(epoch FROM now() - min(o.changed_at)), 0)::float8
FROM operations o WHERE o.lease_until IS NOT NULL AND o.state IN ('claimed', 'calling') GROUP BY o.state
UNION ALL
SELECT 'unknown', count(*)::integer, coalesce(extract(epoch FROM now() - min(changed_at)), 0)::float8
FROM operations WHERE state = 'unknown'
UNION ALL
SELECT 'outbox', count(*)::integer, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM outbox
