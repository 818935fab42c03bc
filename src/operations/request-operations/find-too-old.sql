-- Which of these were asked for longer ago than their tenant remembers keys, by their place in the list, from 1.
SELECT i.place::integer AS place
FROM unnest(:times::timestamptz[], :days::integer[]) WITH ORDINALITY AS i(asked_at, days, place)
WHERE i.asked_at < now() - make_interval(days => i.days)
