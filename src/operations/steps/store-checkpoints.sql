-- What a call has answered. The first answer stays; that a step was done may be known before its answer is. What was scrubbed or
-- forgotten meanwhile keeps nothing.
INSERT INTO checkpoints AS c (tenant_id, operation_id, step, name, version, input_hash, result, effect_id, claim_seq)
SELECT i.tenant_id, i.operation_id, i.step, i.name, i.version, i.input_hash, i.result, i.effect_id, i.claim_seq
FROM unnest(:tenants::text[], :operation_ids::uuid[], :steps::smallint[], :names::text[], :versions::integer[],
            :input_hashes::bytea[], :results::json[], :effect_ids::text[], :claim_seqs::bigint[])
  AS i(tenant_id, operation_id, step, name, version, input_hash, result, effect_id, claim_seq)
JOIN operations o ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
WHERE o.scrubbed_at IS NULL
ORDER BY i.tenant_id, i.operation_id, i.step
ON CONFLICT (tenant_id, operation_id, step) DO UPDATE
SET result = excluded.result, input_hash = coalesce(c.input_hash, excluded.input_hash),
    effect_id = coalesce(c.effect_id, excluded.effect_id)
WHERE c.result IS NULL AND excluded.result IS NOT NULL
