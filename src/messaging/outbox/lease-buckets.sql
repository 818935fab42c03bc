-- Renews this relay's buckets, gives back what is more than its share, takes free ones up to its share.
-- Each change of owner raises the fence: what was read under an older fence is void.
WITH me AS (
  INSERT INTO outbox_relays (relay_id, alive_until)
  VALUES (:relay::uuid, now() + make_interval(secs => :lease_seconds))
  ON CONFLICT (relay_id) DO UPDATE SET alive_until = excluded.alive_until
),
share AS (
  SELECT ceil(
    (SELECT count(*) FROM outbox_buckets)::numeric
    / (1 + (SELECT count(*) FROM outbox_relays WHERE alive_until > now() AND relay_id <> :relay::uuid))
  )::bigint AS buckets
),
mine AS (
  SELECT bucket, row_number() OVER (ORDER BY bucket) AS position
  FROM outbox_buckets WHERE owner = :relay::uuid AND lease_until > now()
),
given_back AS (
  UPDATE outbox_buckets b SET owner = NULL, lease_until = '-infinity', fence = b.fence + 1
  FROM mine, share WHERE b.bucket = mine.bucket AND b.owner = :relay::uuid AND mine.position > share.buckets
),
kept AS (
  UPDATE outbox_buckets b SET lease_until = now() + make_interval(secs => :lease_seconds)
  FROM mine, share WHERE b.bucket = mine.bucket AND b.owner = :relay::uuid AND mine.position <= share.buckets
  RETURNING b.bucket, b.fence
),
free AS (
  SELECT bucket FROM outbox_buckets
  WHERE lease_until <= now()
  ORDER BY bucket
  LIMIT greatest(0, (SELECT buckets FROM share) - (SELECT count(*) FROM mine))
  FOR UPDATE SKIP LOCKED
),
taken AS (
  UPDATE outbox_buckets b
  SET owner = :relay::uuid, fence = b.fence + 1, lease_until = now() + make_interval(secs => :lease_seconds)
  FROM free WHERE b.bucket = free.bucket
  RETURNING b.bucket, b.fence
)
SELECT bucket, fence FROM kept UNION ALL SELECT bucket, fence FROM taken
