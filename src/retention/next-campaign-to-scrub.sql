-- The position keeps the microseconds that a Date would lose.
SELECT c.campaign_id, to_char(c.ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ended_at
FROM campaigns c
WHERE c.tenant_id = :tenant AND c.ended_at IS NOT NULL AND c.scrubbed_at IS NULL
  AND (c.ended_at, c.campaign_id) > (:ended_at::timestamptz, :campaign)
  AND c.ended_at < now() - make_interval(days => :days)
ORDER BY c.tenant_id, c.ended_at, c.campaign_id
LIMIT 1
