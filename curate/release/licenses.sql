-- The licence texts that belong to the problems of a release: of each project, and of what holds for their files.
WITH used AS (
    SELECT DISTINCT f.snapshot_id, o.license_path
    FROM current_selections AS p
    JOIN current_functions AS f USING (function_id)
    JOIN function_licenses AS o USING (function_id)
    WHERE p.release = $release AND p.version = $version AND p.problem_id IS NOT NULL
)
SELECT s.name, s.revision, s.url, l.text, list(DISTINCT l.read_from ORDER BY l.read_from) AS files
FROM current_licenses AS l
JOIN current_snapshots AS s USING (snapshot_id)
JOIN used AS u ON u.snapshot_id = l.snapshot_id
WHERE l.read_from = u.license_path OR (l.path = '' AND l.how IN ('text', 'notice', 'tag'))
GROUP BY s.name, s.revision, s.url, l.text
ORDER BY s.name, s.revision, s.url, files, l.text
