-- Complete is: everything of the audience is in a final state. What is unknown holds the campaign in sending.
UPDATE campaigns c SET state = 'completed', ended_at = now(), changed_at = now()
WHERE c.state = 'sending'
  AND NOT EXISTS (
    SELECT FROM operations o
    WHERE o.tenant_id = c.tenant_id AND o.campaign_id = c.campaign_id
      AND o.state IN ('awaiting-approval', 'queued', 'claimed', 'calling', 'unknown')
  )
  AND c.audience = (SELECT count(*) FROM operations o WHERE o.tenant_id = c.tenant_id AND o.campaign_id = c.campaign_id)
RETURNING c.tenant_id, c.campaign_id, c.revision, c.content_hash, c.state, c.state_reason, c.causation_id, c.traceparent
