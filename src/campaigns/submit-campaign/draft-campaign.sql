-- A newer revision takes the campaign back to drafted, until it has started; then it stays what was approved.
INSERT INTO campaigns AS c (tenant_id, campaign_id, revision, content_hash, class, provider, on_unknown, state,
                            scheduled_for, causation_id, traceparent)
VALUES (:tenant, :campaign, :revision, :content_hash, :class, :provider, :on_unknown, 'drafted',
        :scheduled_for, :causation_id, :traceparent)
ON CONFLICT (tenant_id, campaign_id) DO UPDATE
SET revision = excluded.revision, content_hash = excluded.content_hash, class = excluded.class,
    provider = excluded.provider, on_unknown = excluded.on_unknown, state = 'drafted', state_reason = NULL,
    scheduled_for = excluded.scheduled_for, approved_by = NULL, causation_id = excluded.causation_id,
    traceparent = excluded.traceparent, changed_at = now()
WHERE c.revision < excluded.revision AND c.state IN ('drafted', 'approved', 'scheduled')
RETURNING tenant_id, campaign_id, revision, content_hash, state, state_reason, causation_id, traceparent
