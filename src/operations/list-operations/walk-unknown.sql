SELECT o.operation_id,
       (:provider::text IS NULL OR o.provider = :provider) AND (:campaign::text IS NULL OR o.campaign_id = :campaign) AS matches,
       to_char(coalesce(o.unknown_since, o.changed_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
FROM operations o
WHERE o.tenant_id = :tenant AND o.state = 'unknown'
  AND (coalesce(o.unknown_since, o.changed_at), o.operation_id) > (:since::timestamptz, :after_id::uuid)
  AND coalesce(o.unknown_since, o.changed_at)
      <= coalesce(now() - make_interval(secs => :older_than_seconds), 'infinity'::timestamptz)
ORDER BY o.tenant_id, coalesce(o.unknown_since, o.changed_at), o.operation_id
LIMIT :scan
