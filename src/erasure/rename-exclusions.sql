-- That somebody was left out, and why, stays: campaigns are counted by it. Who it was does not.
UPDATE campaign_exclusions x SET subscriber_id = 'erased:' || gen_random_uuid()
FROM unnest(:campaign_tenants::text[], :campaigns::text[]) AS c(tenant_id, campaign_id)
WHERE x.tenant_id = c.tenant_id AND x.campaign_id = c.campaign_id AND x.subscriber_id = ANY (:subscriber_ids::text[])
RETURNING x.campaign_id
