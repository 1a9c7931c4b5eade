-- The function itself, with its project.
SELECT f.* EXCLUDE (run_id, work_item), s.name AS project, s.revision, s.url, o.license_expression, o.license_path, o.license_how,
    o.license_text, o.license_reason
FROM current_functions AS f JOIN current_snapshots AS s USING (snapshot_id)
JOIN function_licenses AS o USING (function_id)
WHERE f.function_id = $function_id
