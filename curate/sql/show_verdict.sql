-- What running has shown.
SELECT * EXCLUDE (function_id, run_id, work_item) FROM current_verdicts WHERE function_id = $function_id
