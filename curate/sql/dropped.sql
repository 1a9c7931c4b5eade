-- The exact requests for the snapshots whose files a stage could not read.
SELECT DISTINCT s.work_item AS request, s.repository_id
FROM current_failures AS f
JOIN current_snapshots AS s ON s.snapshot_id = f.detail
WHERE f.stage = $stage AND f.reason = $reason
ORDER BY request
