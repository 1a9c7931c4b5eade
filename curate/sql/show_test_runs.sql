-- How these tests ended in the runs of the whole suite; those that passed are counted, the others named.
SELECT r.run, r.outcome, count(*) AS tests, min(CASE WHEN r.outcome <> 'passed' THEN r.detail END) AS example
FROM current_test_runs AS r
SEMI JOIN (SELECT test_id FROM current_links WHERE function_id = $function_id AND how <> 'static') AS l USING (test_id)
GROUP BY r.run, r.outcome ORDER BY r.run, r.outcome
