-- A statement of its own: the one that was refused may have begun before those that emptied the bucket were through.
SELECT greatest(1, ceil((1 - t.tokens) / :per_second::double precision - extract(epoch FROM now() - t.refilled_at)))::float8
         AS seconds
FROM token_rates t
WHERE t.tenant_id = :tenant AND t.token_name = :token_name
