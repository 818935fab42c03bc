-- The result of a call, fenced by the number under which it was made. The attempt row takes the evidence even when the
-- claim is lost by then: it is what the provider really said.
WITH input AS (
  SELECT i.*
  FROM unnest(:tenants::text[], :operation_ids::uuid[], :claim_seqs::bigint[], :outcomes::text[], :codes::text[],
              :diagnostics::text[], :effect_ids::text[], :states::text[], :reasons::text[], :delays_ms::bigint[],
              :uncounted::integer[])
    AS i(tenant_id, operation_id, claim_seq, outcome, code, diagnostic, effect_id, state, reason, delay_ms, uncounted)
),
tried AS (
  UPDATE attempts a
  SET ended_at = now(), outcome = i.outcome, code = i.code, diagnostic = i.diagnostic, effect_id = i.effect_id
  FROM input i
  WHERE a.tenant_id = i.tenant_id AND a.operation_id = i.operation_id AND a.claim_seq = i.claim_seq
    AND (a.outcome IS NULL OR a.outcome = 'lost')
)
UPDATE operations o
SET state = i.state, state_reason = i.reason, effect_id = i.effect_id, claimed_by = NULL, lease_until = NULL,
    attempts = o.attempts - i.uncounted, throttles = o.throttles + (i.outcome = 'throttled')::integer,
    not_before = CASE WHEN i.state = 'queued' THEN now() + i.delay_ms * interval '1 millisecond' ELSE o.not_before END,
    unknown_since = CASE WHEN i.state = 'unknown' THEN now() ELSE o.unknown_since END,
    resolve_at = '-infinity', changed_at = now()
FROM input i
WHERE o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id AND o.claim_seq = i.claim_seq AND o.state = 'calling'
RETURNING o.tenant_id, o.operation_id
