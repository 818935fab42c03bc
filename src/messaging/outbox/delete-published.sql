DELETE FROM outbox o
USING unnest(:buckets::smallint[], :ids::bigint[]) AS published(bucket, outbox_id)
WHERE o.bucket = published.bucket AND o.outbox_id = published.outbox_id
