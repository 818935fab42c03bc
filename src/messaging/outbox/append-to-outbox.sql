-- Ids are drawn in the order given, so that messages of one key keep the order of the transaction that wrote them.
INSERT INTO outbox (bucket, topic, message_key, headers, message_value,
                    tenant_id, recipient_key, recipient_class, recipient_lists, on_suppressed)
SELECT i.bucket, i.topic, i.message_key, i.headers, i.message_value,
       i.tenant_id, i.recipient_key, i.recipient_class,
       coalesce(array(SELECT json_array_elements_text(i.recipient_lists)), '{}'), i.on_suppressed
FROM unnest(:buckets::smallint[], :topics::text[], :keys::bytea[], :headers::json[], :values::bytea[],
            :tenants::text[], :recipient_keys::text[], :recipient_classes::text[], :recipient_lists::json[],
            :on_suppressed::json[])
  WITH ORDINALITY AS i(bucket, topic, message_key, headers, message_value,
                       tenant_id, recipient_key, recipient_class, recipient_lists, on_suppressed, position)
ORDER BY i.position
