-- The exact requests for the snapshots whose files the last run of a stage could not read.
SELECT DISTINCT s.work_item AS request, s.repository_id
FROM failures AS f
JOIN current_snapshots AS s ON s.snapshot_id = f.detail
WHERE f.stage = $stage AND f.reason = $reason AND f.run_id = (SELECT max(run_id) FROM runs WHERE stage = $stage)
ORDER BY request
