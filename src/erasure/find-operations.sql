-- Single operations to these addresses. Those that have been erased are no longer among them, so each page is the first.
SELECT o.tenant_id, o.operation_id
FROM operations o
WHERE o.tenant_id = :tenant AND o.campaign_id IS NULL AND o.scrubbed_at IS NULL AND o.address_key IS NOT NULL
  AND o.address_key = ANY (:address_keys::text[])
LIMIT :page_size
