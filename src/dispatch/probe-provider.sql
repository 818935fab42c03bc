-- Whoever changes the row may try the provider with one operation; the next to try comes after that time.
UPDATE provider_stops SET until = now() + :seconds * interval '1 second'
WHERE provider = :provider AND until <= now()
RETURNING provider
