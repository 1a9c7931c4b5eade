-- All that a published problem is made of, for the functions that a release has taken.
WITH
    taken AS (
        SELECT * FROM current_selections
        WHERE release = $release AND version = $version AND problem_id IS NOT NULL
    ),
    proven AS (
        SELECT l.function_id,
               list({node_id: t.node_id, path: t.path, source: t.source} ORDER BY t.node_id) AS tests
        FROM (SELECT DISTINCT function_id, test_id FROM current_links WHERE how = 'proven') AS l
        JOIN (SELECT test_id, any_value(node_id) AS node_id, any_value(path) AS path, max(source) AS source
              FROM current_tests GROUP BY test_id) AS t USING (test_id)
        GROUP BY l.function_id
    ),
    sizes AS (SELECT cluster_id, count(*) AS cluster_size FROM current_clusters GROUP BY cluster_id),
    pythons AS (SELECT environment_id, any_value(python) AS python FROM current_environments GROUP BY environment_id)
SELECT
    p.problem_id, p.split, f.*, s.name AS project, s.url, s.revision, s.sha256, s.committed_at,
    o.license_expression, o.license_path, o.license_how, proven.tests AS proven_tests,
    v.runs, v.tests AS tests_run, v.tests_failing_on_stub, v.mutants, v.mutants_killed, v.environment_id, v.sandbox,
    pythons.python, coalesce(sizes.cluster_size, 1) AS cluster_size,
    CASE WHEN a.complete THEN least(a.first_seen_at, a.body_seen_at) END AS first_seen_at
FROM taken AS p
JOIN current_functions AS f USING (function_id)
JOIN current_snapshots AS s USING (snapshot_id)
JOIN function_licenses AS o USING (function_id)
JOIN current_verdicts AS v USING (function_id)
LEFT JOIN proven USING (function_id)
LEFT JOIN current_appearances AS a ON a.function_id = f.function_id
LEFT JOIN pythons ON pythons.environment_id = v.environment_id
LEFT JOIN current_clusters AS c USING (function_id)
LEFT JOIN sizes USING (cluster_id)
ORDER BY p.problem_id
