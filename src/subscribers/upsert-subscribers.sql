-- The newest fact wins, whatever order facts arrive in. Keys sorted; each subscriber at most once per call.
INSERT INTO subscribers AS s (tenant_id, subscriber_id, status, email, address_send, address_key, key_version,
                              address_fault, lists, attributes, locale, time_zone, fact_time)
SELECT i.tenant_id, i.subscriber_id, i.status, i.email, i.address_send, i.address_key, i.key_version,
       i.address_fault, coalesce(array(SELECT json_array_elements_text(i.lists)), '{}'), i.attributes, i.locale,
       i.time_zone, i.fact_time
FROM unnest(:tenants::text[], :subscriber_ids::text[], :statuses::text[], :emails::text[], :address_sends::text[],
            :address_keys::text[], :key_versions::smallint[], :address_faults::text[], :lists::json[],
            :attributes::json[], :locales::text[], :time_zones::text[], :fact_times::timestamptz[])
  AS i(tenant_id, subscriber_id, status, email, address_send, address_key, key_version, address_fault, lists,
       attributes, locale, time_zone, fact_time)
ORDER BY i.tenant_id, i.subscriber_id
ON CONFLICT (tenant_id, subscriber_id) DO UPDATE
SET status = excluded.status, email = excluded.email, address_send = excluded.address_send,
    address_key = excluded.address_key, key_version = excluded.key_version, address_fault = excluded.address_fault,
    lists = excluded.lists, attributes = excluded.attributes, locale = excluded.locale, time_zone = excluded.time_zone,
    fact_time = excluded.fact_time
WHERE s.fact_time <= excluded.fact_time
