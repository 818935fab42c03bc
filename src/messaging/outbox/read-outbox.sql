-- The head of each bucket that is still ours, with the last look at the suppression list for rows that address someone.
-- One that has lost its recipient and still has what is told instead was erased.
SELECT o.bucket, o.outbox_id, o.topic, o.message_key, o.headers, o.message_value, o.on_suppressed,
       CASE WHEN o.recipient_key IS NULL AND o.on_suppressed IS NOT NULL THEN 'erased' ELSE s.reason END AS suppressed
FROM unnest(:buckets::smallint[], :fences::bigint[]) AS mine(bucket, fence)
JOIN outbox_buckets b
  ON b.bucket = mine.bucket AND b.fence = mine.fence AND b.owner = :relay::uuid AND b.lease_until > now()
CROSS JOIN LATERAL (
  SELECT head.*, sum(octet_length(head.message_value)) OVER (ORDER BY head.outbox_id) AS bytes_so_far
  FROM (
    SELECT * FROM outbox WHERE outbox.bucket = mine.bucket ORDER BY outbox_id LIMIT :rows_per_bucket
  ) head
) o
LEFT JOIN LATERAL (
  SELECT found.reason
  FROM suppression_of(o.tenant_id, o.recipient_key, o.recipient_class, o.recipient_lists) AS found
) s ON o.recipient_key IS NOT NULL
-- What is before a row decides; a tombstone has no bytes and must not overtake what was left out.
WHERE coalesce(o.bytes_so_far, 0) - coalesce(octet_length(o.message_value), 0) < :bytes_per_bucket
ORDER BY o.bucket, o.outbox_id
