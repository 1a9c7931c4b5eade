-- One item for each function that could become a problem. Batches are formed by the first characters of the id, which is
-- a hash: functions of one project spread evenly over the workers, each of which holds the corpora in memory.
SELECT
    functions.function_id AS item_id,
    substr(functions.function_id, 1, 2) AS unit,
    snapshots.name || ':' || functions.path || ':' || functions.qualname AS name,
    functions.normalised,
    functions.docstring
FROM current_functions AS functions
JOIN current_snapshots AS snapshots USING (snapshot_id)
WHERE NOT functions.in_tests AND NOT functions.is_stub AND functions.docstring IS NOT NULL
ORDER BY item_id
