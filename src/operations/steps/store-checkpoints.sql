-- What a call has answered. The first stays: a replay gives the same again.
INSERT INTO checkpoints (tenant_id, operation_id, step, name, version, input_hash, result, effect_id, claim_seq)
SELECT i.tenant_id, i.operation_id, i.step, i.name, i.version, i.input_hash, i.result, i.effect_id, i.claim_seq
FROM unnest(:tenants::text[], :operation_ids::uuid[], :steps::smallint[], :names::text[], :versions::integer[],
            :input_hashes::bytea[], :results::json[], :effect_ids::text[], :claim_seqs::bigint[])
  AS i(tenant_id, operation_id, step, name, version, input_hash, result, effect_id, claim_seq)
ORDER BY i.tenant_id, i.operation_id, i.step
ON CONFLICT (tenant_id, operation_id, step) DO NOTHING
