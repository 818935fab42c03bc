-- Keys sorted, so that two consumers with the same records never wait for each other in a circle.
INSERT INTO inbox (consumer, source, event_id, tenant_id, message_hash)
SELECT :consumer, i.source, i.event_id, i.tenant_id, i.message_hash
FROM unnest(:sources::text[], :event_ids::text[], :tenants::text[], :hashes::bytea[], :record_times::timestamptz[])
  AS i(source, event_id, tenant_id, message_hash, record_time)
WHERE i.record_time > now() - make_interval(days => :retention_days)
ORDER BY i.source, i.event_id
ON CONFLICT (consumer, source, event_id) DO NOTHING
RETURNING source, event_id
