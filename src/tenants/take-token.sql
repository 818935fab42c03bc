-- One request of a token out of its bucket, which fills up with time. Whoever is refused writes nothing. Clocks of two transactions may be read in another order than they commit, so time never runs backwards here.
WITH taken AS (
  INSERT INTO token_rates AS t (tenant_id, token_name, tokens, refilled_at)
  SELECT :tenant, :token_name, :burst::double precision - 1, now()
  WHERE :expires_at::timestamptz IS NULL OR :expires_at::timestamptz > now()
  ON CONFLICT (tenant_id, token_name) DO UPDATE
  SET tokens = least(:burst::double precision,
                     t.tokens + greatest(0, extract(epoch FROM now() - t.refilled_at)) * :per_second::double precision) - 1,
      refilled_at = greatest(t.refilled_at, now())
  WHERE least(:burst::double precision,
              t.tokens + greatest(0, extract(epoch FROM now() - t.refilled_at)) * :per_second::double precision) >= 1
  RETURNING tokens
)
SELECT EXISTS (SELECT FROM taken) AS taken, coalesce(:expires_at::timestamptz <= now(), false) AS expired
