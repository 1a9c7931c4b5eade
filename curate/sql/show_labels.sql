-- What each labeller says.
SELECT axis, value, labeller, confidence, evidence FROM current_labels WHERE function_id = $function_id ORDER BY ALL
