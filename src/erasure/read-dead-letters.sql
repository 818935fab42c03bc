-- A page of dead letters, with the bytes of those that may hold one of the needles. ASCII in lower case: in this form of the bytes
-- all other characters are numbers.
SELECT d.dead_letter_id, d.headers, CASE WHEN found.hit THEN d.record_key END AS record_key,
       CASE WHEN found.hit THEN d.record_value END AS record_value
FROM (
  SELECT d.* FROM dead_letters d
  WHERE d.tenant_id = :tenant AND d.dead_letter_id > :after::bigint
  ORDER BY d.tenant_id, d.dead_letter_id
  LIMIT :page_size
) d
CROSS JOIN LATERAL (
  SELECT EXISTS (
    SELECT FROM unnest(:needles::text[]) AS n(needle)
    WHERE position(n.needle IN lower(encode(d.record_value, 'escape'))) > 0
       OR position(n.needle IN lower(encode(d.record_key, 'escape'))) > 0
  ) AS hit
  OFFSET 0
) found
ORDER BY d.dead_letter_id
