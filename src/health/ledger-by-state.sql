SELECT state, count(*)::integer AS operations FROM operations GROUP BY state
