SELECT tenant_id, campaign_id, revision, content_hash, state, state_reason, causation_id, traceparent
FROM campaigns WHERE tenant_id = :tenant AND campaign_id = :campaign
