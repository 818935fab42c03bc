SELECT provider, since, until, code, diagnostic FROM provider_stops WHERE provider = ANY (:providers::text[])
