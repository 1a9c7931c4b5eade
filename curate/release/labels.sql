-- Every label of a function outside the tests.
SELECT l.function_id, l.axis, l.value, l.labeller, l.confidence
FROM current_labels AS l
SEMI JOIN (SELECT function_id FROM current_functions WHERE NOT in_tests) AS f USING (function_id)
ORDER BY ALL
