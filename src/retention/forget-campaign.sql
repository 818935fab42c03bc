-- The campaign itself, when nothing of it is left, with its revisions, and its approvals: else the same content under the same
-- name would still be approved.
WITH forgotten AS (
  DELETE FROM campaigns c
  WHERE c.tenant_id = :tenant AND c.campaign_id = :campaign AND c.scrubbed_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM operations o WHERE o.tenant_id = c.tenant_id AND o.campaign_id = c.campaign_id)
    AND NOT EXISTS (SELECT FROM campaign_exclusions x WHERE x.tenant_id = c.tenant_id AND x.campaign_id = c.campaign_id)
  RETURNING c.tenant_id, c.campaign_id
),
revisions AS (
  DELETE FROM campaign_revisions r USING forgotten f
  WHERE r.tenant_id = f.tenant_id AND r.campaign_id = f.campaign_id
),
approved AS (
  DELETE FROM approvals a USING forgotten f
  WHERE a.tenant_id = f.tenant_id AND a.object = 'campaign:' || f.campaign_id
)
SELECT campaign_id FROM forgotten
