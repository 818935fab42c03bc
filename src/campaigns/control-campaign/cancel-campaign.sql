UPDATE campaigns SET state = 'cancelled', state_reason = :reason, changed_at = now(), ended_at = now()
WHERE tenant_id = :tenant AND campaign_id = :campaign AND state NOT IN ('completed', 'cancelled')
RETURNING tenant_id, campaign_id, revision, content_hash, state, state_reason, causation_id, traceparent
