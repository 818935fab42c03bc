-- What ended without an effect begins again under the same key, with its history. The bytes of the first attempt are held to
-- only when an attempt may have had an effect: then they must not differ. A deadline that has passed is dropped, or replaced.
UPDATE operations o
SET state = 'queued', state_reason = i.reason, attempts = 0, crashes = 0, throttles = 0, redriven = o.redriven + 1,
    claim_seq = o.claim_seq + 1, resolved_by = NULL, unknown_since = NULL, resolve_at = '-infinity',
    request_hash = CASE WHEN a.may_have_had_effect THEN o.request_hash END,
    request_shape = CASE WHEN a.may_have_had_effect THEN o.request_shape END,
    deadline = CASE WHEN i.deadline IS NOT NULL THEN i.deadline WHEN o.deadline > now() THEN o.deadline END,
    not_before = now() + i.delay_ms * interval '1 millisecond', changed_at = now()
FROM unnest(:tenants::text[], :operation_ids::uuid[], :claim_seqs::bigint[], :reasons::text[], :deadlines::timestamptz[],
            :delays_ms::bigint[])
  AS i(tenant_id, operation_id, claim_seq, reason, deadline, delay_ms)
CROSS JOIN LATERAL (
  SELECT EXISTS (
    SELECT FROM attempts a
    JOIN operations s ON s.tenant_id = a.tenant_id AND s.operation_id = a.operation_id AND s.step = a.step
    WHERE a.tenant_id = i.tenant_id AND a.operation_id = i.operation_id
      AND (a.outcome IS NULL OR a.outcome NOT IN ('not-sent', 'throttled', 'rejected', 'suppressed', 'account'))
  ) AS may_have_had_effect
) a
WHERE o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id AND o.claim_seq = i.claim_seq
  AND o.state IN ('dead', 'rejected', 'expired') AND o.scrubbed_at IS NULL
RETURNING o.tenant_id, o.operation_id, o.operation_key, o.state, o.state_reason, o.claim_seq, o.payload_hash, o.campaign_id,
          o.causation_id, o.traceparent, o.deadline, o.not_before, o.redriven
