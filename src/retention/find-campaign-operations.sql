-- A page of a campaign's operations that ended long enough ago, locked, in the order of their addresses. Between the two bounds
-- are those that are to be scrubbed, or those that have been: nobody walks over the others.
SELECT o.tenant_id, o.operation_id, o.address_key
FROM operations o
WHERE o.tenant_id = :tenant AND o.campaign_id = :campaign AND o.address_key > :after AND o.address_key < :before
  AND o.state IN ('accepted', 'delivered', 'bounced', 'complained', 'suppressed', 'rejected', 'expired', 'cancelled', 'dead')
  AND o.changed_at < now() - make_interval(days => :days)
ORDER BY o.tenant_id, o.campaign_id, o.address_key
LIMIT :page_size
FOR UPDATE SKIP LOCKED
