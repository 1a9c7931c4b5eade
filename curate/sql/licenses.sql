-- The licence that holds for a function, with its evidence: what decides for its file, else for the innermost folder
-- that has a licence of its own, else for the project.
CREATE TEMP VIEW function_licenses AS
WITH
    deciding AS (SELECT * FROM current_licenses WHERE decides),
    files AS (
        SELECT DISTINCT snapshot_id, path, string_split(path, '/') AS parts FROM current_functions
    ),
    depths AS (SELECT *, unnest(range(0, len(parts) + 1)) AS depth FROM files),
    scopes AS (SELECT snapshot_id, path, depth, array_to_string(parts[:depth], '/') AS scope FROM depths),
    innermost AS (
        SELECT s.snapshot_id, s.path,
               arg_max({expression: d.expression, read_from: d.read_from, how: d.how, text: d.text, reason: d.reason},
                       s.depth) AS license
        FROM scopes AS s
        JOIN deciding AS d ON d.snapshot_id = s.snapshot_id AND d.path = s.scope
        GROUP BY s.snapshot_id, s.path
    )
SELECT
    f.function_id,
    i.license.expression AS license_expression,
    i.license.read_from AS license_path,
    i.license.how AS license_how,
    i.license.text AS license_text,
    i.license.reason AS license_reason
FROM current_functions AS f
LEFT JOIN innermost AS i USING (snapshot_id, path);
