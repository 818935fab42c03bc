UPDATE rate_tokens SET tokens = tokens - :spent::integer WHERE tenant_id = :tenant AND provider = :provider
