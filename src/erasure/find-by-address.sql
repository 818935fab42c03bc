SELECT s.subscriber_id, s.address_key
FROM subscribers s
WHERE s.tenant_id = :tenant AND s.address_key = :address_key
ORDER BY s.tenant_id, s.address_key
FOR NO KEY UPDATE
