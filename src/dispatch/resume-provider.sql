DELETE FROM provider_stops WHERE provider = :provider RETURNING provider, code, since
