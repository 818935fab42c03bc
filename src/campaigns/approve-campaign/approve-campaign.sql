UPDATE campaigns c
SET state = 'approved', state_reason = NULL, approved_by = a.decided_by, changed_at = now()
FROM approvals a
WHERE c.tenant_id = :tenant AND c.campaign_id = :campaign AND c.state = 'drafted'
  AND a.tenant_id = c.tenant_id AND a.object = 'campaign:' || c.campaign_id
  AND a.revision = c.revision AND a.hash = c.content_hash AND a.granted
  AND (a.expires_at IS NULL OR a.expires_at > now())
RETURNING c.tenant_id, c.campaign_id, c.revision, c.content_hash, c.state, c.state_reason, c.causation_id, c.traceparent
