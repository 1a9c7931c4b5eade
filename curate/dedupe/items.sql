-- The one item of this stage: all candidate functions together. Its id changes with the functions and with which of
-- them are verified, which decides who represents a cluster; there is no item when there is nothing to compare.
SELECT
    md5(string_agg(function_id || ':' || coalesce(outcome, ''), ',' ORDER BY function_id)) AS item_id,
    'all' AS unit,
    'all' AS name
FROM current_functions
LEFT JOIN current_verdicts USING (function_id)
WHERE NOT in_tests AND NOT is_stub
HAVING count(*) > 0
