-- One statement, so that nothing can change between the look and the write. A claim without an intent called nobody and is
-- queued again, and ends as dead when that happens over and over; an intent without a result is unknown; what was being resolved stays unknown and is looked at again. The new
-- number fences off whoever is late.
WITH expired AS (
  SELECT tenant_id, operation_id, claim_seq, state
  FROM operations
  WHERE state IN ('claimed', 'calling', 'unknown') AND lease_until <= now()
  ORDER BY lease_until
  LIMIT :limit
  FOR NO KEY UPDATE SKIP LOCKED
),
lost AS (
  UPDATE attempts a SET outcome = 'lost', ended_at = now(), code = 'lease-expired'
  FROM expired e
  WHERE e.state IN ('calling', 'unknown') AND a.tenant_id = e.tenant_id AND a.operation_id = e.operation_id
    AND a.claim_seq = e.claim_seq AND a.outcome IS NULL
)
UPDATE operations o
SET state = CASE WHEN e.state <> 'claimed' THEN 'unknown' WHEN o.crashes + 1 >= :max_crashes THEN 'dead' ELSE 'queued' END,
    state_reason = CASE WHEN e.state = 'calling' THEN 'the worker was lost during the call, and its result is not known'
                        WHEN e.state = 'claimed' AND o.crashes + 1 >= :max_crashes
                          THEN 'crash-loop: its worker was lost before the call again and again'
                        ELSE o.state_reason END,
    crashes = o.crashes + (e.state = 'claimed')::integer,
    -- Others go before it: it may be what takes the workers down.
    not_before = CASE WHEN e.state = 'claimed'
                      THEN now() + least(60, power(2, o.crashes) - 1) * interval '1 second' ELSE o.not_before END,
    unknown_since = CASE e.state WHEN 'calling' THEN now() ELSE o.unknown_since END,
    resolve_at = '-infinity', claim_seq = o.claim_seq + 1, claimed_by = NULL, lease_until = NULL, changed_at = now()
FROM expired e
WHERE o.tenant_id = e.tenant_id AND o.operation_id = e.operation_id AND o.claim_seq = e.claim_seq AND o.state = e.state
RETURNING o.tenant_id, o.operation_id, o.operation_key, e.state AS from_state, o.state, o.state_reason, o.payload_hash, o.attempts,
          o.campaign_id, o.causation_id, o.traceparent
