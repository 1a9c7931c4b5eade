-- Every snapshot with an environment and at least one function, with its functions and its tests as read from the files.
WITH functions AS (
    SELECT
        snapshot_id,
        list(
            {
                'function_id': function_id, 'path': path, 'first_line': first_line,
                'in_tests': in_tests OR cell IS NOT NULL
            }
            ORDER BY path, first_line, function_id
        ) AS functions
    FROM current_functions
    GROUP BY snapshot_id
),

tests AS (
    SELECT snapshot_id, list({'test_id': test_id, 'node_id': node_id} ORDER BY node_id) AS tests
    FROM current_tests
    WHERE found_by = 'static'
    GROUP BY snapshot_id
)

SELECT
    snapshot_id AS item_id,
    snapshot_id AS unit,
    name,
    revision,
    environment_id,
    python,
    lock,
    coalesce(roots, []) AS roots,
    functions,
    coalesce(tests, []) AS tests
FROM current_snapshots
JOIN current_environments USING (snapshot_id)
JOIN functions USING (snapshot_id)
LEFT JOIN import_roots USING (snapshot_id)
LEFT JOIN tests USING (snapshot_id)
ORDER BY name, snapshot_id
