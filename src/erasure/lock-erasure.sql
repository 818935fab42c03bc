-- Waits for a replica that does a page of it.
SELECT e.tenant_id, e.erasure_id, e.requested_by, e.reason, e.subscriber_ids, e.address_keys, e.step, e.position, e.report
FROM erasures e
WHERE e.tenant_id = :tenant AND e.erasure_id = :erasure_id AND e.step <> 'end'
FOR NO KEY UPDATE
