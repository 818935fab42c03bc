-- In the order of the recipients, which an operation's id stands for: a position must not hold an address. One that is no longer
-- there ends the walk.
SELECT o.operation_id,
       (:state::text IS NULL OR o.state = :state) AND (:provider::text IS NULL OR o.provider = :provider)
         AND o.changed_at <= coalesce(now() - make_interval(secs => :older_than_seconds), 'infinity'::timestamptz) AS matches,
       '' AS position
FROM operations o
WHERE o.tenant_id = :tenant AND o.campaign_id = :campaign
  AND o.address_key > coalesce(
    (SELECT p.address_key FROM operations p WHERE p.tenant_id = :tenant AND p.operation_id = :after_id::uuid),
    CASE WHEN :after_id::uuid = '00000000-0000-0000-0000-000000000000' THEN '' END
  )
ORDER BY o.tenant_id, o.campaign_id, o.address_key
LIMIT :scan
