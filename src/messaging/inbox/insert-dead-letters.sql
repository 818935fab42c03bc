INSERT INTO dead_letters (tenant_id, consumer, topic, partition, record_offset, record_time,
                          event_source, event_id, event_type, reason, detail, attempts,
                          record_key, record_value, headers)
SELECT i.tenant_id, :consumer, :topic, :partition, i.record_offset, i.record_time,
       i.event_source, i.event_id, i.event_type, i.reason, i.detail, i.attempts,
       i.record_key, i.record_value, i.headers
FROM unnest(:tenants::text[], :offsets::bigint[], :record_times::timestamptz[],
            :event_sources::text[], :event_ids::text[], :event_types::text[], :reasons::text[], :details::text[],
            :attempts::integer[], :keys::bytea[], :values::bytea[], :headers::json[])
  AS i(tenant_id, record_offset, record_time, event_source, event_id, event_type, reason, detail, attempts,
       record_key, record_value, headers)
ON CONFLICT (consumer, topic, partition, record_offset, record_time) DO NOTHING
RETURNING record_offset
