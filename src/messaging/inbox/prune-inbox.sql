-- A page: what is older than the inbox has to remember. The oldest rows lie together, which is what the BRIN index is for.
DELETE FROM inbox WHERE ctid IN (
  SELECT ctid FROM inbox WHERE received_at < now() - make_interval(days => :retention_days)
  LIMIT :page_size FOR UPDATE SKIP LOCKED
)
RETURNING consumer
