-- The row stays, so that an older fact that arrives late does not bring the person back; a later one does, as a new person.
UPDATE subscribers s
SET status = 'deleted', email = NULL, address_send = NULL, address_key = NULL, key_version = NULL, address_fault = NULL,
    lists = '{}', attributes = '{}', locale = NULL, time_zone = NULL, fact_time = greatest(s.fact_time, now())
FROM unnest(:tenants::text[], :subscriber_ids::text[]) AS i(tenant_id, subscriber_id)
WHERE s.tenant_id = i.tenant_id AND s.subscriber_id = i.subscriber_id AND (s.status <> 'deleted' OR s.email IS NOT NULL)
RETURNING s.subscriber_id
