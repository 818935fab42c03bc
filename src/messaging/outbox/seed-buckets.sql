INSERT INTO outbox_buckets (bucket)
SELECT bucket FROM generate_series(0, :buckets::integer - 1) AS bucket
ON CONFLICT (bucket) DO NOTHING
