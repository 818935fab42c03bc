SELECT b.source, b.event_id, b.message_hash
FROM unnest(:sources::text[], :event_ids::text[]) AS i(source, event_id)
JOIN inbox b ON b.consumer = :consumer AND b.source = i.source AND b.event_id = i.event_id
