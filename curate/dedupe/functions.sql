-- Every candidate function: one that has behaviour of its own and is no part of a test suite.
SELECT
    functions.function_id,
    snapshots.name AS project,
    functions.normalised,
    snapshots.committed_at,
    coalesce(verdicts.outcome = 'verified', false) AS verified
FROM current_functions AS functions
JOIN current_snapshots AS snapshots USING (snapshot_id)
LEFT JOIN current_verdicts AS verdicts USING (function_id)
WHERE NOT functions.in_tests AND NOT functions.is_stub
ORDER BY functions.function_id
