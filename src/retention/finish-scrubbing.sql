-- Only when no operation of the campaign has an address any more: not before what is unknown has become known.
UPDATE campaigns c SET scrubbed_at = now()
WHERE c.tenant_id = :tenant AND c.campaign_id = :campaign AND c.ended_at IS NOT NULL AND c.scrubbed_at IS NULL
  AND NOT EXISTS (
    SELECT FROM operations o
    WHERE o.tenant_id = c.tenant_id AND o.campaign_id = c.campaign_id AND o.address_key < 'scrubbed:'
  )
  AND NOT EXISTS (
    SELECT FROM operations o
    WHERE o.tenant_id = c.tenant_id AND o.campaign_id = c.campaign_id AND o.address_key >= 'scrubbed;'
  )
RETURNING c.campaign_id
