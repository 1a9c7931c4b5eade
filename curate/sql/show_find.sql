-- Functions that an id, the start of one, a problem id, or the end of PROJECT:PATH:QUALNAME may mean; exact hits alone.
WITH names AS (
    SELECT f.function_id, s.name || ':' || f.path || ':' || f.qualname AS name
    FROM current_functions AS f JOIN current_snapshots AS s USING (snapshot_id)
),
hits AS (
    SELECT function_id, name,
           CASE WHEN function_id = $wanted OR name = $wanted THEN 1
                WHEN function_id IN (SELECT function_id FROM current_selections WHERE problem_id = $wanted) THEN 1
                WHEN length($wanted) >= 6 AND starts_with(function_id, $wanted) THEN 2
                WHEN ends_with(name, ':' || $wanted) OR ends_with(name, '/' || $wanted) THEN 3
           END AS rank
    FROM names
)
SELECT function_id, name FROM hits WHERE rank = (SELECT min(rank) FROM hits) ORDER BY name, function_id
