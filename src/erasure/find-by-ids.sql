-- Whoever is not there is named all the same: a campaign's operations know the id for longer than the subscribers do.
SELECT i.tenant_id, i.subscriber_id, s.address_key
FROM unnest(:tenants::text[], :subscriber_ids::text[]) AS i(tenant_id, subscriber_id)
LEFT JOIN subscribers s ON s.tenant_id = i.tenant_id AND s.subscriber_id = i.subscriber_id
