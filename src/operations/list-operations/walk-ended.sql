-- By the index over what ended badly, oldest first. The states stand here once more as words, so that the index is known to hold them.
SELECT o.operation_id,
       (:provider::text IS NULL OR o.provider = :provider) AND (:campaign::text IS NULL OR o.campaign_id = :campaign) AS matches,
       to_char(o.changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
FROM operations o
WHERE o.tenant_id = :tenant AND o.state = :state::text
  AND o.state IN ('suppressed', 'rejected', 'expired', 'cancelled', 'dead', 'bounced', 'complained')
  AND (o.changed_at, o.operation_id) > (:since::timestamptz, :after_id::uuid)
  AND o.changed_at <= coalesce(now() - make_interval(secs => :older_than_seconds), 'infinity'::timestamptz)
ORDER BY o.tenant_id, o.state, o.changed_at, o.operation_id
LIMIT :scan
