-- A page of what a cancelled campaign still had queued.
WITH remaining AS (
  SELECT o.tenant_id, o.operation_id, o.state
  FROM campaigns c
  -- In the form of the index over what is queued: the rest of the campaign is not looked at.
  JOIN operations o
    ON o.tenant_id = c.tenant_id AND o.provider = c.provider AND coalesce(o.campaign_id, '') = c.campaign_id
  WHERE c.state = 'cancelled' AND c.ended_at > now() - interval '7 days' AND o.state = 'queued'
  LIMIT :page_size
  FOR UPDATE OF o SKIP LOCKED
)
UPDATE operations o SET state = 'cancelled', state_reason = 'the campaign was cancelled', changed_at = now()
FROM remaining r
WHERE o.tenant_id = r.tenant_id AND o.operation_id = r.operation_id AND o.state = r.state
RETURNING o.tenant_id, o.operation_id, o.operation_key, o.payload_hash, o.attempts, o.campaign_id, o.state_reason,
          o.causation_id, o.traceparent
