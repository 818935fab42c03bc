-- What goes next, in the order in which it is claimed: by the index that claims go by, whose order has no place to go on from.
SELECT o.operation_id,
       o.changed_at <= coalesce(now() - make_interval(secs => :older_than_seconds), 'infinity'::timestamptz) AS matches,
       '' AS position
FROM operations o
WHERE o.tenant_id = :tenant AND o.provider = :provider AND coalesce(o.campaign_id, '') = '' AND o.state = 'queued'
ORDER BY o.priority DESC, o.not_before
LIMIT :scan
