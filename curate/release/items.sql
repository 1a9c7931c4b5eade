-- One item that stands for all that the selection depends on: another verdict, label or match, another item.
WITH parts AS (
    SELECT 'function ' || function_id AS part FROM current_functions
    UNION ALL
    SELECT concat_ws(' ', 'verdict', function_id, outcome, tests_failing_on_stub) FROM current_verdicts
    UNION ALL
    SELECT concat_ws(' ', 'label', function_id, axis, value, labeller, confidence) FROM current_labels
    UNION ALL
    SELECT concat_ws(' ', 'cluster', function_id, representative_id, relation) FROM current_clusters
    UNION ALL
    SELECT concat_ws(' ', 'match', function_id, corpus, item_id, relation, overlap) FROM current_matches
    UNION ALL
    SELECT concat_ws(' ', 'dates', function_id, first_seen_at, body_seen_at, complete) FROM current_appearances
    UNION ALL
    SELECT concat_ws(' ', 'snapshot', snapshot_id, committed_at) FROM current_snapshots
    UNION ALL
    SELECT concat_ws(' ', 'licence', function_id, license_expression, license_path, license_how) FROM function_licenses
)
SELECT md5(string_agg(part, chr(10) ORDER BY part)) AS item_id, 'all' AS unit, 'all' AS name
FROM parts
HAVING count(*) > 0
