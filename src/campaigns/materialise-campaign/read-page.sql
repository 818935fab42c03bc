-- A page is counted in subscribers looked at, not in recipients found: a page without any recipient is not the end.
SELECT s.subscriber_id, s.status, s.email, s.address_key, s.address_fault, s.lists, s.attributes, s.locale, s.time_zone,
       hit.scope AS suppressed_scope, hit.reason AS suppressed_reason
FROM (
  SELECT * FROM subscribers
  WHERE tenant_id = :tenant AND subscriber_id > :through
  ORDER BY subscriber_id
  LIMIT :page_size
) s
-- A suppression of a list blocks that list only: the lists through which the campaign does not reach anyone do not count.
LEFT JOIN LATERAL suppression_of(
  s.tenant_id, s.address_key, :class, array(SELECT unnest(s.lists) INTERSECT SELECT unnest(:lists::text[]))
) AS hit ON s.address_key IS NOT NULL
ORDER BY s.subscriber_id
