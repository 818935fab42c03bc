SELECT o.operation_id, o.operation_key, o.kind, o.class, o.campaign_id, o.state, o.state_reason, o.payload_hash, o.provider, o.effect_id,
       o.not_before, o.deadline, o.created_at, o.changed_at, o.on_unknown, o.unknown_since, o.resolved_by, o.doubled,
       o.claim_seq, o.priority, o.attempts, o.max_attempts, o.throttles, o.crashes, o.redriven, o.step, o.scrubbed_at,
       o.approval_object, o.approval_revision, coalesce(o.approval_hash, o.payload_hash) AS approval_hash,
       coalesce(a.granted AND a.hash = 'sha256:' || encode(coalesce(o.approval_hash, o.payload_hash), 'hex')
                AND (a.expires_at IS NULL OR a.expires_at > now()), false) AS approval_granted,
       r.request -> 'steps' AS steps, now() AS now
FROM operations o
LEFT JOIN approvals a
  ON a.tenant_id = o.tenant_id AND a.object = o.approval_object AND a.revision = o.approval_revision
LEFT JOIN operation_requests r
  ON o.kind = 'steps' AND r.tenant_id = o.tenant_id AND r.operation_id = o.operation_id
-- By key and id: with the id alone, a plan made while the table was empty may go through all of the tenant's operations.
WHERE o.tenant_id = :tenant AND o.operation_key = :operation_key AND o.operation_id = :operation_id
