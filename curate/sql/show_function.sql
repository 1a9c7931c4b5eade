-- The function itself, with its project.
SELECT f.* EXCLUDE (run_id, work_item), s.name AS project, s.revision, s.url, s.license_expression, s.license_path
FROM current_functions AS f JOIN current_snapshots AS s USING (snapshot_id)
WHERE f.function_id = $function_id
