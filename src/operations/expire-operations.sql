WITH late AS (
  SELECT tenant_id, operation_id FROM operations
  WHERE state IN ('queued', 'awaiting-approval') AND deadline <= now()
  LIMIT :page_size FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE operations o SET state = 'expired', state_reason = 'the deadline passed before the call', changed_at = now()
FROM late l
WHERE o.tenant_id = l.tenant_id AND o.operation_id = l.operation_id AND o.state IN ('queued', 'awaiting-approval')
RETURNING o.tenant_id, o.operation_id, o.operation_key, o.payload_hash, o.attempts, o.campaign_id, o.state_reason,
          o.causation_id, o.traceparent
