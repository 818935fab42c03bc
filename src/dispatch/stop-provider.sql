-- The first refusal stops the provider for all replicas, a refused probe doubles the pause (to an hour at most). Those that were
-- under way at the same moment change nothing.
INSERT INTO provider_stops AS p (provider, code, diagnostic, until)
VALUES (:provider, :code, :diagnostic, now() + :pause_seconds * interval '1 second')
ON CONFLICT (provider) DO UPDATE
SET code = excluded.code, diagnostic = excluded.diagnostic, stops = p.stops + 1,
    until = now() + least(3600, :pause_seconds * power(2, least(p.stops, 12))) * interval '1 second'
WHERE :probing OR p.until <= now()
RETURNING stops
