-- A page of what a cancelled campaign still had queued: also what comes back to the queue much later, when it is known at last that
-- it was not sent. A campaign is not scrubbed before that.
WITH remaining AS (
  SELECT queued.tenant_id, queued.operation_id, queued.state
  FROM campaigns c
  -- In the form of the index over what is queued, and campaign by campaign: the rest of the queue is not looked at, also when
  -- this was planned while the tables were empty.
  CROSS JOIN LATERAL (
    SELECT o.tenant_id, o.operation_id, o.state
    FROM operations o
    WHERE o.tenant_id = c.tenant_id AND o.provider = c.provider AND coalesce(o.campaign_id, '') = c.campaign_id
      AND o.state = 'queued'
    LIMIT :page_size
    FOR UPDATE OF o SKIP LOCKED
  ) queued
  WHERE c.state = 'cancelled' AND c.scrubbed_at IS NULL
  LIMIT :page_size
)
UPDATE operations o SET state = 'cancelled', state_reason = 'the campaign was cancelled', changed_at = now()
FROM remaining r
WHERE o.tenant_id = r.tenant_id AND o.operation_id = r.operation_id AND o.state = r.state
RETURNING o.tenant_id, o.operation_id, o.operation_key, o.payload_hash, o.attempts, o.campaign_id, o.state_reason,
          o.causation_id, o.traceparent
