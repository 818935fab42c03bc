-- The trace that a key is used again, and the last look before it: if the first call never arrived, this one has the effect.
WITH held AS (
  SELECT o.tenant_id, o.operation_id, o.claim_seq, o.provider, o.request_hash, o.step,
         CASE
           WHEN o.request_hash IS DISTINCT FROM i.request_hash THEN 'definition-changed'
           WHEN o.deadline <= now() THEN 'expired'
           WHEN o.campaign_id IS NOT NULL AND NOT coalesce(c.state = 'sending' AND c.revision = o.revision, false)
             THEN 'held-back'
           WHEN o.approval_object IS NOT NULL AND a.object IS NULL THEN 'not-approved'
           WHEN hit.reason IS NOT NULL THEN 'suppressed'
           ELSE 'committed'
         END AS verdict
  FROM unnest(:tenants::text[], :operation_ids::uuid[], :claim_seqs::bigint[], :request_hashes::bytea[])
    AS i(tenant_id, operation_id, claim_seq, request_hash)
  JOIN operations o
    ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id AND o.claim_seq = i.claim_seq
  LEFT JOIN campaigns c ON c.tenant_id = o.tenant_id AND c.campaign_id = o.campaign_id
  LEFT JOIN approvals a
    ON a.tenant_id = o.tenant_id AND a.object = o.approval_object AND a.revision = o.approval_revision
    AND a.granted AND a.hash = 'sha256:' || encode(coalesce(o.approval_hash, o.payload_hash), 'hex')
    AND (a.expires_at IS NULL OR a.expires_at > now())
  LEFT JOIN LATERAL suppression_of(o.tenant_id, o.address_key, o.class, o.lists) AS hit ON o.address_key IS NOT NULL
  WHERE o.state = 'unknown' AND coalesce(o.lease_until > now(), false)
  FOR NO KEY UPDATE OF o
),
intents AS (
  INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker, account, request_hash, step, purpose)
  SELECT tenant_id, operation_id, claim_seq, provider, :worker::uuid, :account, request_hash, step, 'replay'
  FROM held
  WHERE verdict = 'committed'
)
SELECT tenant_id, operation_id, verdict FROM held
