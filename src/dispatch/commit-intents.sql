-- The last look before the call, and the trace that it happened, in one statement. Only a claim that still holds gets an
-- attempt row; whoever is suppressed by now, late, or no longer approved does not.
WITH held AS (
  SELECT o.tenant_id, o.operation_id, o.claim_seq,
         CASE
           WHEN o.deadline <= now() THEN 'expired'
           WHEN o.campaign_id IS NOT NULL AND NOT coalesce(c.state = 'sending' AND c.revision = o.revision, false)
             THEN 'held-back'
           WHEN o.approval_object IS NOT NULL AND a.object IS NULL THEN 'not-approved'
           WHEN hit.reason IS NOT NULL THEN 'suppressed'
           WHEN o.request_hash <> i.request_hash THEN 'definition-changed'
           ELSE 'committed'
         END AS verdict,
         hit.scope AS suppressed_scope, hit.reason AS suppressed_reason, i.request_hash, i.request_shape, i.batch_id
  FROM unnest(:tenants::text[], :operation_ids::uuid[], :claim_seqs::bigint[], :request_hashes::bytea[],
              :request_shapes::json[], :batch_ids::uuid[])
    AS i(tenant_id, operation_id, claim_seq, request_hash, request_shape, batch_id)
  JOIN operations o
    ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id AND o.claim_seq = i.claim_seq
  LEFT JOIN campaigns c ON c.tenant_id = o.tenant_id AND c.campaign_id = o.campaign_id
  LEFT JOIN approvals a
    ON a.tenant_id = o.tenant_id AND a.object = o.approval_object AND a.revision = o.approval_revision
    AND a.granted AND a.hash = 'sha256:' || encode(coalesce(o.approval_hash, o.payload_hash), 'hex')
    AND (a.expires_at IS NULL OR a.expires_at > now())
  LEFT JOIN LATERAL suppression_of(o.tenant_id, o.address_key, o.class, o.lists) AS hit ON o.address_key IS NOT NULL
  WHERE o.state = 'claimed' AND coalesce(o.lease_until > now(), false)
  FOR NO KEY UPDATE OF o
),
called AS (
  UPDATE operations o
  SET state = 'calling', attempts = o.attempts + 1, crashes = 0, changed_at = now(), request_hash = h.request_hash,
      request_shape = h.request_shape
  FROM held h
  WHERE h.verdict = 'committed' AND o.tenant_id = h.tenant_id AND o.operation_id = h.operation_id
    AND o.claim_seq = h.claim_seq AND o.state = 'claimed'
  RETURNING o.tenant_id, o.operation_id, o.claim_seq, o.attempts, o.request_hash, o.step, h.batch_id
),
intents AS (
  INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker, account, request_hash, step, batch_id)
  SELECT tenant_id, operation_id, claim_seq, :provider, :worker::uuid, :account, request_hash, step, batch_id FROM called
)
SELECT tenant_id, operation_id, 'committed' AS verdict, NULL AS suppressed_scope, NULL AS suppressed_reason, attempts,
       now() AS started_at
FROM called
UNION ALL
SELECT tenant_id, operation_id, verdict, suppressed_scope, suppressed_reason, NULL, now() FROM held WHERE verdict <> 'committed'
