-- With the last step it forgets whom it was about.
UPDATE erasures e
SET step = :step, position = :position, report = :report,
    ended_at = CASE WHEN :step = 'end' THEN now() END,
    subscriber_ids = CASE WHEN :step = 'end' THEN '{}' ELSE e.subscriber_ids END,
    address_keys = CASE WHEN :step = 'end' THEN '{}' ELSE e.address_keys END
WHERE e.tenant_id = :tenant AND e.erasure_id = :erasure_id AND e.step <> 'end'
