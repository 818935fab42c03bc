-- What the provider said, even when the claim is lost by then.
UPDATE attempts a
SET ended_at = now(), outcome = i.outcome, code = i.code, diagnostic = i.diagnostic, effect_id = i.effect_id
FROM unnest(:tenants::text[], :operation_ids::uuid[], :claim_seqs::bigint[], :outcomes::text[], :codes::text[],
            :diagnostics::text[], :effect_ids::text[])
  AS i(tenant_id, operation_id, claim_seq, outcome, code, diagnostic, effect_id)
WHERE a.tenant_id = i.tenant_id AND a.operation_id = i.operation_id AND a.claim_seq = i.claim_seq
  AND (a.outcome IS NULL OR a.outcome = 'lost')
