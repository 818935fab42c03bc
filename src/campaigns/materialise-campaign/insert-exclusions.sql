INSERT INTO campaign_exclusions (tenant_id, campaign_id, subscriber_id, reason)
SELECT :tenant, :campaign, i.subscriber_id, i.reason
FROM unnest(:subscribers::text[], :reasons::text[]) AS i(subscriber_id, reason)
ORDER BY i.subscriber_id
ON CONFLICT DO NOTHING
