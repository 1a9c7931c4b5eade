-- Every function with all that the gates look at; its text only where it may become a problem.
WITH
    found AS (
        SELECT function_id, list({corpus: corpus, item_id: item_id, relation: relation, overlap: overlap}
                                 ORDER BY overlap DESC, corpus, item_id) AS matches
        FROM current_matches GROUP BY function_id
    ),
    checked AS (SELECT work_item AS function_id FROM current_work WHERE stage = 'contamination'),
    names AS (
        SELECT f.function_id, s.name || ':' || f.path || ':' || f.qualname AS name
        FROM current_functions AS f JOIN current_snapshots AS s USING (snapshot_id)
    )
SELECT
    f.function_id, f.snapshot_id, s.name AS project, s.repository_id, s.revision, s.committed_at, o.license_expression,
    f.path, f.qualname, f.kind, f.cell, f.in_tests, f.is_stub, f.is_nested,
    coalesce(length(f.docstring), 0) AS docstring_length, f.cyclomatic_complexity, f.lines,
    CASE WHEN v.outcome = 'verified' THEN f.source END AS source,
    v.outcome, v.reason AS verdict_reason, v.tests_failing_on_stub,
    c.relation, r.name AS representative, m.matches, k.function_id IS NOT NULL AS checked,
    a.first_seen_at, a.body_seen_at, a.complete AS dates_complete
FROM current_functions AS f
JOIN current_snapshots AS s USING (snapshot_id)
JOIN function_licenses AS o USING (function_id)
LEFT JOIN current_verdicts AS v USING (function_id)
LEFT JOIN current_clusters AS c USING (function_id)
LEFT JOIN names AS r ON r.function_id = c.representative_id
LEFT JOIN found AS m ON m.function_id = f.function_id
LEFT JOIN checked AS k ON k.function_id = f.function_id
LEFT JOIN current_appearances AS a ON a.function_id = f.function_id
ORDER BY s.name, s.revision, f.path, f.start_byte, f.function_id
