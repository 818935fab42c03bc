SELECT o.operation_id, o.operation_key, o.kind, o.class, o.campaign_id, o.provider, o.state, o.state_reason, o.claim_seq,
       o.attempts, o.redriven, o.effect_id, o.not_before, o.deadline, o.created_at, o.changed_at, o.scrubbed_at,
       a.started_at, a.ended_at, a.outcome, a.code, a.diagnostic
FROM unnest(:tenants::text[], :operation_ids::uuid[]) WITH ORDINALITY AS i(tenant_id, operation_id, position)
JOIN operations o ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
LEFT JOIN LATERAL (
  SELECT a.started_at, a.ended_at, a.outcome, a.code, a.diagnostic
  FROM attempts a
  WHERE a.tenant_id = i.tenant_id AND a.operation_id = i.operation_id
  ORDER BY a.claim_seq DESC
  LIMIT 1
) a ON true
ORDER BY i.position
