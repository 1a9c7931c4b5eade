-- The licence that holds for a function: of the parts of its project that have one of their own, the innermost that its
-- file is in, else the project's.
CREATE TEMP VIEW function_licenses AS
WITH
    parts AS (
        SELECT f.function_id, p.part.expression AS expression, p.part.path AS path, length(p.part.path) AS depth
        FROM current_functions AS f
        JOIN (SELECT snapshot_id, unnest(other_licenses) AS part FROM current_snapshots) AS p USING (snapshot_id)
        WHERE f.path = p.part.path OR starts_with(f.path, p.part.path || '/')
    ),
    innermost AS (
        SELECT function_id, arg_max({expression: expression, path: path}, (depth, path)) AS part
        FROM parts GROUP BY function_id
    )
SELECT
    f.function_id,
    CASE WHEN i.part IS NULL THEN s.license_expression ELSE i.part.expression END AS license_expression,
    CASE WHEN i.part IS NULL THEN s.license_path ELSE i.part.path END AS license_path
FROM current_functions AS f
JOIN current_snapshots AS s USING (snapshot_id)
LEFT JOIN innermost AS i USING (function_id);
