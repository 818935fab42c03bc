-- Also those of rows that were written when more buckets were configured: nobody else would ever publish them.
INSERT INTO outbox_buckets (bucket)
SELECT bucket
FROM generate_series(0, greatest(:buckets::integer - 1, (SELECT max(o.bucket) FROM outbox o))) AS bucket
ON CONFLICT (bucket) DO NOTHING
