UPDATE campaigns SET state = 'paused', state_reason = :reason, changed_at = now()
WHERE tenant_id = :tenant AND campaign_id = :campaign AND state = 'sending'
RETURNING tenant_id, campaign_id, revision, content_hash, state, state_reason, causation_id, traceparent
