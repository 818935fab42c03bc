-- The count is whole: everyone looked at is an operation, is left out with a reason, or was never meant.
UPDATE campaigns c
SET state = 'sending', audience = counted.audience, excluded = counted.excluded, started_at = now(), changed_at = now()
FROM (
  SELECT (SELECT count(*) FROM operations WHERE tenant_id = :tenant AND campaign_id = :campaign) AS audience,
         (SELECT count(*) FROM campaign_exclusions WHERE tenant_id = :tenant AND campaign_id = :campaign) AS excluded
) counted
WHERE c.tenant_id = :tenant AND c.campaign_id = :campaign AND c.revision = :revision AND c.state = 'materialising'
RETURNING c.tenant_id, c.campaign_id, c.revision, c.content_hash, c.state, c.state_reason, c.causation_id, c.traceparent
