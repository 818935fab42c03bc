SELECT c.campaign_id
FROM campaigns c
WHERE c.tenant_id = :tenant AND c.campaign_id > :after
ORDER BY c.tenant_id, c.campaign_id
LIMIT :page_size
