-- Every function with a docstring outside the tests, once its snapshot has been traced or can't be: with the tests that
-- link to it, the likeliest first, and what these did in the runs of the suite.
WITH ran AS (
    SELECT
        test_id,
        list(outcome ORDER BY run) AS outcomes,
        bool_and(outcome = 'passed') AS sound,
        max(items) AS items,
        coalesce(first(detail ORDER BY run) FILTER (detail <> ''), '') AS detail
    FROM current_test_runs
    GROUP BY test_id
),

breadth AS (
    SELECT test_id, count(*) AS functions FROM current_links WHERE how = 'coverage' GROUP BY test_id
),

node_ids AS (
    SELECT test_id, any_value(node_id) AS node_id FROM current_tests GROUP BY test_id
),

linked AS (
    SELECT
        function_id,
        list(
            {
                'test_id': test_id, 'node_id': node_id, 'traced': traced, 'outcomes': outcomes, 'sound': sound,
                'items': items, 'detail': detail
            }
            ORDER BY sound DESC, traced DESC, functions, items, node_id
        )[:60] AS tests
    FROM (
        SELECT function_id, test_id, bool_or(how = 'coverage') AS traced
        FROM current_links
        WHERE how IN ('coverage', 'static')
        GROUP BY ALL
    )
    JOIN ran USING (test_id)
    JOIN node_ids USING (test_id)
    LEFT JOIN breadth USING (test_id)
    GROUP BY function_id
),

failed AS (
    SELECT item_id AS snapshot_id, first({'stage': stage, 'reason': reason, 'detail': detail} ORDER BY stage) AS failure
    FROM current_failures
    SEMI JOIN (SELECT * FROM current_work WHERE status = 'failed') AS final USING (run_id, work_item)
    WHERE stage IN ('install', 'trace') AND item_id = work_item
    GROUP BY item_id
),

traced AS (
    SELECT work_item AS snapshot_id FROM current_work WHERE stage = 'trace' AND status = 'done'
)

SELECT
    function_id AS item_id,
    snapshot_id AS unit,
    snapshots.name || ':' || path || ':' || qualname AS name,
    snapshot_id,
    snapshots.name AS project,
    revision,
    path,
    functions.qualname,
    functions.first_line,
    functions.source,
    start_byte,
    body_byte,
    end_byte,
    is_stub,
    environment_id,
    python,
    lock,
    coalesce(roots, []) AS roots,
    CASE WHEN cell IS NULL THEN coalesce(tests, []) ELSE [] END AS tests, -- nothing imports a notebook
    failure
FROM current_functions AS functions
JOIN current_snapshots AS snapshots USING (snapshot_id)
LEFT JOIN current_environments USING (snapshot_id)
LEFT JOIN import_roots USING (snapshot_id)
LEFT JOIN failed USING (snapshot_id)
LEFT JOIN linked USING (function_id)
WHERE
    docstring IS NOT NULL
    AND NOT in_tests
    AND (failure IS NOT NULL OR snapshot_id IN (FROM traced))
ORDER BY snapshots.name, snapshot_id, path, start_byte, function_id
