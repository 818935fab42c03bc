-- An approval counts for an operation when it names the revision and the hash of exactly this payload, or of what the step is given.
UPDATE operations o
SET state = 'queued', changed_at = now()
FROM unnest(:tenants::text[], :objects::text[]) AS i(tenant_id, object)
JOIN approvals a ON a.tenant_id = i.tenant_id AND a.object = i.object
WHERE o.tenant_id = i.tenant_id AND o.approval_object = i.object AND o.approval_revision = a.revision
  AND o.state = 'awaiting-approval'
  AND a.granted AND a.hash = 'sha256:' || encode(coalesce(o.approval_hash, o.payload_hash), 'hex')
  AND (a.expires_at IS NULL OR a.expires_at > now())
RETURNING o.tenant_id, o.operation_id
