-- The oldest that nobody works on. Its row stays locked for the page, so that replicas share out erasures and never pages of one.
SELECT e.tenant_id, e.erasure_id, e.requested_by, e.reason, e.subscriber_ids, e.address_keys, e.step, e.position, e.report
FROM erasures e
WHERE e.ended_at IS NULL
ORDER BY e.requested_at
LIMIT 1
FOR NO KEY UPDATE SKIP LOCKED
