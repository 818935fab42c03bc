-- Which lanes have anything to do, asked once for all of them. A paused campaign's operations are not due, nor are those of a
-- provider that has stopped; when its pause is over it is due as "stopped", which is to be tried with one operation.
SELECT i.tenant_id, i.provider, p.provider IS NOT NULL AS stopped
FROM unnest(:tenants::text[], :providers::text[]) AS i(tenant_id, provider)
LEFT JOIN provider_stops p ON p.provider = i.provider
WHERE (p.until IS NULL OR p.until <= now()) AND (EXISTS (
    SELECT FROM operations o
    WHERE o.tenant_id = i.tenant_id AND o.provider = i.provider AND coalesce(o.campaign_id, '') = ''
      AND o.state = 'queued' AND o.not_before <= now()
  )
  OR EXISTS (
    SELECT FROM campaigns c
    WHERE c.tenant_id = i.tenant_id AND c.state = 'sending'
      AND EXISTS (
        SELECT FROM operations o
        WHERE o.tenant_id = c.tenant_id AND o.provider = i.provider AND coalesce(o.campaign_id, '') = c.campaign_id
          AND o.state = 'queued' AND o.not_before <= now()
        OFFSET 0
      )
  ))
