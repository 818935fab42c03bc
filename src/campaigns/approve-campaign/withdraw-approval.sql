-- What has not started goes back to drafted; what is sending stops; an audience that is being frozen is given up.
UPDATE campaigns c
SET state = CASE c.state WHEN 'approved' THEN 'drafted' WHEN 'scheduled' THEN 'drafted'
                         WHEN 'sending' THEN 'paused' ELSE 'cancelled' END,
    approved_by = CASE WHEN c.state IN ('approved', 'scheduled') THEN NULL ELSE c.approved_by END,
    ended_at = CASE WHEN c.state = 'materialising' THEN now() END,
    state_reason = 'approval-withdrawn', changed_at = now()
WHERE c.tenant_id = :tenant AND c.campaign_id = :campaign AND c.revision = :revision
  AND c.state IN ('approved', 'scheduled', 'materialising', 'sending')
  -- A withdrawal that is older than the approval it speaks of was not stored, and takes nothing back.
  AND EXISTS (
    SELECT FROM approvals a
    WHERE a.tenant_id = c.tenant_id AND a.object = 'campaign:' || c.campaign_id AND a.revision = c.revision
      AND NOT a.granted
  )
RETURNING c.tenant_id, c.campaign_id, c.revision, c.content_hash, c.state, c.state_reason, c.causation_id, c.traceparent
