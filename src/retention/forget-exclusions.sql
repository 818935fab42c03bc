-- A page of who was left out of a campaign that has no operations any more.
WITH page AS MATERIALIZED (
  SELECT x.tenant_id, x.campaign_id, x.subscriber_id
  FROM campaign_exclusions x
  WHERE x.tenant_id = :tenant AND x.campaign_id = :campaign AND x.subscriber_id > :after
    AND NOT EXISTS (SELECT FROM operations o WHERE o.tenant_id = x.tenant_id AND o.campaign_id = x.campaign_id)
  ORDER BY x.tenant_id, x.campaign_id, x.subscriber_id
  LIMIT :page_size
  FOR UPDATE OF x SKIP LOCKED
)
DELETE FROM campaign_exclusions x USING page p
WHERE x.tenant_id = p.tenant_id AND x.campaign_id = p.campaign_id AND x.subscriber_id = p.subscriber_id
RETURNING x.subscriber_id
