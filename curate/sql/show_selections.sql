-- Whether it is in a release, and why.
SELECT release, version, problem_id, split, gate, reason
FROM current_selections WHERE function_id = $function_id ORDER BY ALL
