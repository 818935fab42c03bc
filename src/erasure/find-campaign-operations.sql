-- By address in each of these campaigns; and by the id that each of them gave to the subscriber's operation, whatever the address
-- was then. A list of tenants, not one: with one, a plan made while the table was empty goes through all that the tenant has.
SELECT o.tenant_id, o.operation_id
FROM unnest(:campaign_tenants::text[], :campaigns::text[]) AS c(tenant_id, campaign_id)
JOIN operations o
  ON o.tenant_id = c.tenant_id AND o.campaign_id = c.campaign_id AND o.address_key = ANY (:address_keys::text[])
UNION
SELECT o.tenant_id, o.operation_id
FROM unnest(:tenants::text[], :operation_ids::uuid[]) AS i(tenant_id, operation_id)
JOIN operations o ON o.tenant_id = i.tenant_id AND o.operation_id = i.operation_id
WHERE o.scrubbed_at IS NULL
