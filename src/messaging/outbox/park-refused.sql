-- A message that the broker refuses for ever leaves the outbox, or it would hold up its bucket, and stays readable.
WITH parked AS (
  DELETE FROM outbox WHERE bucket = :bucket::smallint AND outbox_id = :outbox_id::bigint
  RETURNING tenant_id, topic, outbox_id, message_key, message_value, headers
)
INSERT INTO dead_letters (tenant_id, consumer, topic, partition, record_offset, record_time, reason, detail, attempts,
                          record_key, record_value, headers)
SELECT tenant_id, 'outbox', topic, -1, outbox_id, now(), 'refused-by-broker', :detail, 1,
       message_key, message_value, headers
FROM parked
RETURNING dead_letter_id
