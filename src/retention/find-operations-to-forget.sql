-- A page of single operations whose key need not be remembered any more, locked. Replicas share the pages.
SELECT o.tenant_id, o.operation_id
FROM operations o
WHERE o.tenant_id = :tenant AND o.campaign_id IS NULL AND o.scrubbed_at IS NOT NULL
  AND o.state IN ('accepted', 'delivered', 'bounced', 'complained', 'suppressed', 'rejected', 'expired', 'cancelled', 'dead')
  AND o.changed_at < now() - make_interval(days => :days)
ORDER BY o.tenant_id, o.changed_at
LIMIT :page_size
FOR UPDATE SKIP LOCKED
