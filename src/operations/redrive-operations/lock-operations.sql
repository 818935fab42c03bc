-- In the order of their ids, as everybody locks them. Refused at arrival: nothing has changed the row since its request came.
SELECT o.operation_id, o.operation_key, o.state, o.state_reason, o.claim_seq, o.attempts, o.redriven, o.campaign_id, o.revision,
       o.provider, o.scrubbed_at, o.deadline,
       o.changed_at = o.created_at AND o.state = 'rejected' AS refused_at_arrival, now() AS now
FROM unnest(:tenants::text[], :operation_ids::uuid[], :operation_keys::text[]) AS i(tenant_id, operation_id, operation_key)
JOIN operations o
  ON o.tenant_id = i.tenant_id AND o.operation_key = i.operation_key AND o.operation_id = i.operation_id
ORDER BY o.tenant_id, o.operation_id
FOR NO KEY UPDATE OF o
