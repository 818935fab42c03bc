-- The rows are locked and were read in this transaction. The number goes up where somebody may hold the old one: who resolves
-- or has claimed the operation writes nothing more.
WITH input AS (
  SELECT i.*
  FROM unnest(:tenants::text[], :operation_ids::uuid[], :claim_seqs::bigint[], :states::text[], :new_states::text[],
              :reasons::text[], :effect_ids::text[], :resolved_bys::text[], :doubleds::boolean[], :outcomes::text[],
              :codes::text[])
    AS i(tenant_id, operation_id, claim_seq, state, new_state, reason, effect_id, resolved_by, doubled, outcome, code)
),
kept AS (
  INSERT INTO evidence (tenant_id, operation_id, step, outcome, claim_seq, code)
  SELECT tenant_id, operation_id, coalesce(resolved_by, 'receipt'), outcome, claim_seq, code
  FROM input
  WHERE resolved_by IS NOT NULL OR outcome = 'doubled'
)
UPDATE operations o
SET state = i.new_state, effect_id = i.effect_id, resolved_by = coalesce(i.resolved_by, o.resolved_by), doubled = i.doubled,
    state_reason = CASE WHEN i.new_state = o.state THEN o.state_reason ELSE i.reason END,
    claim_seq = o.claim_seq + CASE WHEN i.resolved_by IS NULL THEN 0 ELSE 1 END, claimed_by = NULL, lease_until = NULL,
    changed_at = CASE WHEN i.new_state = o.state THEN o.changed_at ELSE now() END
FROM input i
WHERE o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id AND o.claim_seq = i.claim_seq AND o.state = i.state
RETURNING o.tenant_id, o.operation_id
