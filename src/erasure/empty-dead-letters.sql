-- That it was refused, where, when and why stays.
UPDATE dead_letters d SET record_key = NULL, record_value = NULL, headers = '[]'
FROM unnest(:dead_letter_ids::bigint[]) AS i(dead_letter_id)
WHERE d.dead_letter_id = i.dead_letter_id
RETURNING d.dead_letter_id
