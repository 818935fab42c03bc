SELECT state, count(*)::integer AS operations
FROM operations
WHERE tenant_id = :tenant AND campaign_id = :campaign
GROUP BY state
