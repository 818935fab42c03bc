-- Locks the lane's row for the transaction, so that replicas share one rate.
INSERT INTO rate_tokens AS t (tenant_id, provider, tokens, refilled_at)
VALUES (:tenant, :provider, :burst::double precision, now())
ON CONFLICT (tenant_id, provider) DO UPDATE
SET tokens = least(:burst::double precision,
                   t.tokens + extract(epoch FROM now() - t.refilled_at) * :per_second::double precision),
    refilled_at = now()
RETURNING floor(tokens)::integer AS available
