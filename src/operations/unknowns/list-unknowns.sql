-- Oldest first, by the index over what is unknown. The position keeps the microseconds that a Date would lose.
SELECT o.operation_id, o.operation_key, o.claim_seq, o.campaign_id, o.provider, o.on_unknown, o.state_reason,
       coalesce(o.unknown_since, o.changed_at) AS unknown_since,
       to_char(coalesce(o.unknown_since, o.changed_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position,
       greatest(0, floor(extract(epoch FROM now() - coalesce(o.unknown_since, o.changed_at))))::float8 AS age_seconds,
       o.resolve_at = 'infinity' AS needs_person,
       CASE WHEN o.resolve_at < 'infinity' THEN greatest(o.resolve_at, now()) END AS next_look_at,
       now() AS now
FROM operations o
WHERE o.tenant_id = :tenant AND o.state = 'unknown'
  AND (coalesce(o.unknown_since, o.changed_at), o.operation_id) > (:since::timestamptz, :after_id::uuid)
  AND coalesce(o.unknown_since, o.changed_at)
      <= coalesce(now() - make_interval(secs => :older_than_seconds), 'infinity'::timestamptz)
  AND (:provider::text IS NULL OR o.provider = :provider)
  AND (:campaign::text IS NULL OR o.campaign_id = :campaign)
ORDER BY o.tenant_id, coalesce(o.unknown_since, o.changed_at), o.operation_id
LIMIT :limit
