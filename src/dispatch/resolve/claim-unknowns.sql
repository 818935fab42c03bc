-- What is due of one provider. It stays unknown while somebody holds it; the new number fences off whoever held it before.
-- Nothing is tried while the provider refuses the account.
WITH due AS MATERIALIZED (
  SELECT o.tenant_id, o.operation_id, o.state
  FROM operations o
  WHERE o.state = 'unknown' AND o.provider = :provider AND o.resolve_at <= now() AND o.lease_until IS NULL
    AND NOT EXISTS (SELECT FROM provider_stops p WHERE p.provider = :provider AND p.until > now())
  ORDER BY o.resolve_at
  LIMIT :limit
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE operations o
SET claim_seq = o.claim_seq + 1, claimed_by = :worker::uuid, lease_until = now() + make_interval(secs => :lease_seconds)
FROM due d
LEFT JOIN operation_requests r ON r.tenant_id = d.tenant_id AND r.operation_id = d.operation_id
WHERE o.tenant_id = d.tenant_id AND o.operation_id = d.operation_id AND o.state = d.state
RETURNING o.tenant_id, o.operation_id, o.operation_key, o.claim_seq, o.kind, o.step, o.class, o.payload_hash, o.campaign_id,
          o.revision, o.created_at, o.on_unknown, coalesce(o.unknown_since, o.changed_at) AS unknown_since, o.request_hash,
          o.request_shape, r.request, now() AS now
