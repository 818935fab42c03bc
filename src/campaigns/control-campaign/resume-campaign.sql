-- Only while the approval under which it was started still stands.
UPDATE campaigns c SET state = 'sending', state_reason = NULL, changed_at = now()
WHERE c.tenant_id = :tenant AND c.campaign_id = :campaign AND c.state = 'paused'
  AND EXISTS (
    SELECT FROM approvals a
    WHERE a.tenant_id = c.tenant_id AND a.object = 'campaign:' || c.campaign_id
      AND a.revision = c.revision AND a.hash = c.content_hash AND a.granted
      AND (a.expires_at IS NULL OR a.expires_at > now())
  )
  AND :reason::text IS NOT NULL
RETURNING c.tenant_id, c.campaign_id, c.revision, c.content_hash, c.state, c.state_reason, c.causation_id, c.traceparent
