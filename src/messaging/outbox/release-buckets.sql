WITH gone AS (
  DELETE FROM outbox_relays WHERE relay_id = :relay::uuid OR alive_until < now() - interval '1 hour'
)
UPDATE outbox_buckets SET owner = NULL, lease_until = '-infinity', fence = fence + 1
WHERE owner = :relay::uuid
RETURNING bucket
