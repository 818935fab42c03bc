-- Before their operations, so that a campaign which completes meanwhile is seen as completed, or waits.
SELECT c.campaign_id, c.state, c.revision
FROM unnest(:tenants::text[], :campaigns::text[]) AS i(tenant_id, campaign_id)
JOIN campaigns c ON c.tenant_id = i.tenant_id AND c.campaign_id = i.campaign_id
ORDER BY c.campaign_id
FOR NO KEY UPDATE OF c
