-- How much the files of each snapshot are needed: 1 when all stages have dealt with them, 2 when they were extracted, 3
-- when they were not, or can be had nowhere else. Those not listed belong to no row.
WITH dealt AS (
    SELECT work_item AS snapshot_id,
           bool_or(stage = 'extract') AS extracted,
           bool_or(stage = 'trace' OR (stage = 'install' AND status = 'failed')) AS traced
    FROM current_work
    WHERE stage IN ('extract', 'install', 'trace')
    GROUP BY work_item
)
SELECT
    snapshot_id,
    CASE WHEN source = 'local' OR NOT coalesce(extracted, false) THEN 3 WHEN traced THEN 1 ELSE 2 END AS need
FROM current_snapshots LEFT JOIN dealt USING (snapshot_id)
ORDER BY snapshot_id
