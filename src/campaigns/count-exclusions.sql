SELECT reason, count(*)::integer AS subscribers
FROM campaign_exclusions
WHERE tenant_id = :tenant AND campaign_id = :campaign
GROUP BY reason
