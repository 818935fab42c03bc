-- The trace that a batch is called again for those who are claimed, and the last look before it at all who are in it: if the first
-- call never arrived, this one has its effect for each of them, whoever claims them. So all must still be as the batch left them,
-- and none may be late, suppressed or no longer approved. Nothing of this counts where it is proven that the first call did
-- arrive: then the provider repeats its answer, and no effect.
WITH members AS MATERIALIZED (
  SELECT o.tenant_id, o.operation_id, o.claim_seq, o.state, o.lease_until, o.provider, o.request_hash, o.step, o.resolved_by,
         CASE
           WHEN NOT (o.state = 'unknown' OR (o.state = 'calling' AND o.claim_seq = b.claim_seq)) THEN 'moved-on'
           WHEN b.outcome IN ('not-sent', 'throttled', 'rejected', 'suppressed', 'account') THEN 'moved-on'
           WHEN EXISTS (
             SELECT FROM attempts a
             WHERE a.tenant_id = b.tenant_id AND a.operation_id = b.operation_id AND a.claim_seq > b.claim_seq
               AND a.purpose = 'deliver'
           ) THEN 'moved-on'
           WHEN o.deadline <= now() THEN 'expired'
           WHEN o.campaign_id IS NOT NULL AND NOT coalesce(c.state = 'sending' AND c.revision = o.revision, false)
             THEN 'held-back'
           WHEN o.approval_object IS NOT NULL AND p.object IS NULL THEN 'not-approved'
           WHEN hit.reason IS NOT NULL THEN 'suppressed'
         END AS flaw
  FROM attempts b
  JOIN operations o ON o.tenant_id = b.tenant_id AND o.operation_id = b.operation_id
  LEFT JOIN campaigns c ON c.tenant_id = o.tenant_id AND c.campaign_id = o.campaign_id
  LEFT JOIN approvals p
    ON p.tenant_id = o.tenant_id AND p.object = o.approval_object AND p.revision = o.approval_revision
    AND p.granted AND p.hash = 'sha256:' || encode(coalesce(o.approval_hash, o.payload_hash), 'hex')
    AND (p.expires_at IS NULL OR p.expires_at > now())
  LEFT JOIN LATERAL suppression_of(o.tenant_id, o.address_key, o.class, o.lists) AS hit ON o.address_key IS NOT NULL
  WHERE b.batch_id = :batch::uuid AND b.purpose = 'deliver'
  ORDER BY o.tenant_id, o.operation_id
  FOR NO KEY UPDATE OF o
),
proof AS (
  SELECT EXISTS (
    SELECT FROM attempts a WHERE a.batch_id = :batch::uuid AND a.outcome = 'accepted'
  ) OR EXISTS (
    -- Reported by the provider, and no other call can be meant.
    SELECT FROM members m
    WHERE m.state IN ('accepted', 'delivered', 'bounced', 'complained') AND m.resolved_by IN ('receipt', 'lookup')
      AND NOT EXISTS (
        SELECT FROM attempts a
        WHERE a.tenant_id = m.tenant_id AND a.operation_id = m.operation_id AND a.purpose = 'deliver'
          AND a.batch_id IS DISTINCT FROM :batch::uuid
          AND coalesce(a.outcome NOT IN ('not-sent', 'throttled', 'rejected', 'suppressed', 'account'), true)
      )
  ) AS arrived
),
held AS (
  SELECT m.tenant_id, m.operation_id, m.claim_seq, m.provider, m.request_hash, m.step,
         CASE
           WHEN proof.arrived THEN 'committed'
           WHEN m.flaw <> 'moved-on' THEN m.flaw
           WHEN EXISTS (SELECT FROM members other WHERE other.flaw IS NOT NULL) THEN 'definition-changed'
           ELSE 'committed'
         END AS verdict
  FROM unnest(:tenants::text[], :operation_ids::uuid[], :claim_seqs::bigint[]) AS i(tenant_id, operation_id, claim_seq)
  JOIN members m ON m.tenant_id = i.tenant_id AND m.operation_id = i.operation_id AND m.claim_seq = i.claim_seq
  CROSS JOIN proof
  WHERE m.state = 'unknown' AND coalesce(m.lease_until > now(), false)
),
intents AS (
  INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker, account, request_hash, step, purpose, batch_id)
  SELECT tenant_id, operation_id, claim_seq, provider, :worker::uuid, :account, request_hash, step, 'replay', :batch::uuid
  FROM held
  WHERE verdict = 'committed'
)
SELECT tenant_id, operation_id, verdict FROM held
