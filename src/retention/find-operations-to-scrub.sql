-- A page of single operations that ended long enough ago, locked. What is unknown or in motion keeps all that it has. Replicas
-- share the pages.
SELECT o.tenant_id, o.operation_id
FROM operations o
WHERE o.tenant_id = :tenant AND o.campaign_id IS NULL AND o.scrubbed_at IS NULL
  AND o.state IN ('accepted', 'delivered', 'bounced', 'complained', 'suppressed', 'rejected', 'expired', 'cancelled', 'dead')
  AND o.changed_at < now() - make_interval(days => :days)
ORDER BY o.tenant_id, o.changed_at
LIMIT :page_size
FOR NO KEY UPDATE SKIP LOCKED
