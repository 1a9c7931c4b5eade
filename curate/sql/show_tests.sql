-- Tests linked to the function, and how the link is known.
SELECT t.node_id, list(DISTINCT l.how ORDER BY l.how) AS how
FROM current_links AS l
JOIN (SELECT test_id, any_value(node_id) AS node_id FROM current_tests GROUP BY test_id) AS t USING (test_id)
WHERE l.function_id = $function_id
GROUP BY t.node_id ORDER BY t.node_id
