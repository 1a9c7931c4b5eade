-- What failed for the function or for its whole project.
SELECT stage, reason, detail FROM current_failures
WHERE item_id = $function_id
   OR item_id IN (SELECT snapshot_id FROM current_functions WHERE function_id = $function_id)
ORDER BY ALL
