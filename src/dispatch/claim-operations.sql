-- Single operations first, then the tenant's sending campaigns in equal parts. SKIP LOCKED: no claimer waits for another.
-- OFFSET 0 keeps a search by index from becoming a join over all that is queued; and a state that is compared with a column
-- and not with a word keeps a row's lookup by its key from becoming a search through the queue.
WITH streams AS (
  SELECT '' AS campaign_id, 0 AS rank, :limit::integer AS share
  UNION ALL
  SELECT c.campaign_id, 1, ceil(:limit::numeric / count(*) OVER ())::integer
  FROM campaigns c
  WHERE c.tenant_id = :tenant AND c.state = 'sending'
    -- Those with nothing to do, of which one unknown keeps each in sending, would take their share for nothing.
    AND EXISTS (
      SELECT FROM operations q
      WHERE q.tenant_id = c.tenant_id AND q.provider = :provider AND coalesce(q.campaign_id, '') = c.campaign_id
        AND q.state = 'queued' AND q.not_before <= now()
      OFFSET 0
    )
),
due AS MATERIALIZED (
  SELECT o.tenant_id, o.operation_id, o.state
  FROM streams s
  CROSS JOIN LATERAL (
    SELECT o.tenant_id, o.operation_id, o.state
    FROM operations o
    WHERE o.tenant_id = :tenant AND o.provider = :provider AND coalesce(o.campaign_id, '') = s.campaign_id
      AND o.state = 'queued' AND o.not_before <= now()
    ORDER BY o.priority DESC, o.not_before
    LIMIT s.share
    FOR NO KEY UPDATE SKIP LOCKED
  ) o
  ORDER BY s.rank
  LIMIT :limit
)
UPDATE operations o
SET state = 'claimed', claim_seq = o.claim_seq + 1, claimed_by = :worker::uuid,
    lease_until = now() + make_interval(secs => :lease_seconds), changed_at = now()
FROM due d
LEFT JOIN operation_requests r ON r.tenant_id = d.tenant_id AND r.operation_id = d.operation_id
WHERE o.tenant_id = d.tenant_id AND o.operation_id = d.operation_id AND o.state = d.state
RETURNING o.tenant_id, o.operation_id, o.operation_key, o.claim_seq, o.kind, o.step, o.class, o.payload_hash, o.campaign_id,
          o.revision, o.attempts, o.max_attempts, o.throttles, o.crashes, o.approval_object, o.request_hash, o.request_shape,
          o.causation_id, o.traceparent, o.created_at, r.request
