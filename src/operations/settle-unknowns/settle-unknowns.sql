-- What was found out or decided about unknown outcomes, fenced by the number that whoever decides has seen. The evidence is kept
-- even when the claim is lost by then: it is what was really said.
WITH input AS (
  SELECT i.*
  FROM unnest(:tenants::text[], :operation_ids::uuid[], :claim_seqs::bigint[], :states::text[], :reasons::text[],
              :resolved_bys::text[], :effect_ids::text[], :resolve_ats::timestamptz[], :steps::text[], :outcomes::text[],
              :codes::text[], :diagnostics::text[], :decided_bys::text[])
    AS i(tenant_id, operation_id, claim_seq, state, reason, resolved_by, effect_id, resolve_at, step, outcome, code,
         diagnostic, decided_by)
),
kept AS (
  INSERT INTO evidence (tenant_id, operation_id, step, outcome, claim_seq, code, diagnostic, decided_by)
  SELECT i.tenant_id, i.operation_id, i.step, i.outcome, i.claim_seq, i.code, i.diagnostic, i.decided_by
  FROM input i
  JOIN operations o ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
  WHERE i.step IS NOT NULL AND (i.step NOT IN ('person', 'policy') OR (o.claim_seq = i.claim_seq AND o.state = 'unknown'
      AND (i.step = 'policy' OR o.lease_until IS NULL)))
)
UPDATE operations o
SET state = i.state, state_reason = coalesce(i.reason, o.state_reason), resolved_by = i.resolved_by,
    effect_id = coalesce(i.effect_id, o.effect_id), resolve_at = i.resolve_at,
    claim_seq = o.claim_seq + 1, claimed_by = NULL, lease_until = NULL,
    not_before = CASE WHEN i.state = 'queued' THEN now() ELSE o.not_before END,
    changed_at = CASE WHEN i.state = 'unknown' THEN o.changed_at ELSE now() END
FROM input i
WHERE o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
  -- Nobody decides while a replay may be on the wire: what a person calls not sent might be sent in that moment.
  AND (i.step IS DISTINCT FROM 'person' OR o.lease_until IS NULL)
  AND o.claim_seq = i.claim_seq AND o.state = 'unknown'
RETURNING o.tenant_id, o.operation_id, o.operation_key, o.kind, o.state, o.state_reason, o.claim_seq, o.payload_hash, o.attempts,
          o.effect_id, o.unknown_since, o.doubled, o.campaign_id, o.causation_id, o.traceparent
