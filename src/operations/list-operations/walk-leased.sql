-- All leases of the moment are as many as all workers hold, whoever they belong to: that is few, whatever the ledger holds.
WITH leased AS MATERIALIZED (
  SELECT o.tenant_id, o.operation_id, o.state, o.provider, o.campaign_id, o.changed_at
  FROM operations o
  WHERE o.lease_until > '-infinity' AND o.lease_until IS NOT NULL
)
SELECT l.operation_id,
       (:provider::text IS NULL OR l.provider = :provider) AND (:campaign::text IS NULL OR l.campaign_id = :campaign) AS matches,
       to_char(l.changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
FROM leased l
WHERE l.tenant_id = :tenant AND l.state = :state::text
  AND (l.changed_at, l.operation_id) > (:since::timestamptz, :after_id::uuid)
  AND l.changed_at <= coalesce(now() - make_interval(secs => :older_than_seconds), 'infinity'::timestamptz)
ORDER BY l.changed_at, l.operation_id
LIMIT :scan
