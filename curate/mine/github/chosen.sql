-- What was taken when a source file was last gone through.
SELECT request
FROM current_choices
WHERE source_file = $source_file AND request IS NOT NULL
QUALIFY run_id = max(run_id) OVER ()
ORDER BY request
