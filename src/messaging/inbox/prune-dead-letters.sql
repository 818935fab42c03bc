DELETE FROM dead_letters WHERE dead_letter_id IN (
  SELECT dead_letter_id FROM dead_letters
  WHERE created_at < now() - make_interval(days => :retention_days)
  ORDER BY dead_letter_id LIMIT :page_size FOR UPDATE SKIP LOCKED
)
RETURNING consumer
