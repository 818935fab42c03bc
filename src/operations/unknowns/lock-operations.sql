-- In the order of their ids, as everybody locks them. Whoever waits here sees the state that the other has left, so that what is
-- written next cannot lose a race: neither a state nor evidence of a decision that did not count. By key and id: with the id
-- alone, a plan made while the table was empty may go through all of the tenant's operations.
SELECT o.operation_id, o.operation_key, o.state, o.claim_seq, now() AS now
FROM unnest(:tenants::text[], :operation_ids::uuid[], :operation_keys::text[]) AS i(tenant_id, operation_id, operation_key)
JOIN operations o
  ON o.tenant_id = i.tenant_id AND o.operation_key = i.operation_key AND o.operation_id = i.operation_id
ORDER BY o.tenant_id, o.operation_id
FOR NO KEY UPDATE OF o
