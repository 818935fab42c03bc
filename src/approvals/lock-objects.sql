SELECT pg_advisory_xact_lock(i.lock)
FROM (
  SELECT DISTINCT hashtextextended(o.tenant_id || '/' || o.object, 0) AS lock
  FROM unnest(:tenants::text[], :objects::text[]) AS o(tenant_id, object)
  ORDER BY 1
) i
