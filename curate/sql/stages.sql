-- For every stage: what its newest version has dealt with, and how its last run ended.
WITH
    last AS (
        SELECT stage, arg_max(run_id, started_at) AS run_id, max(started_at) AS started_at FROM runs GROUP BY stage
    ),
    ended AS (SELECT run_id, status FROM runs WHERE ended_at IS NOT NULL),
    done AS (
        SELECT stage, count(*) FILTER (status = 'done' AND work_item <> '') AS done,
               count(*) FILTER (status <> 'done') AS failed
        FROM current_work GROUP BY stage
    )
SELECT last.stage, coalesce(done.done, 0) AS done, coalesce(done.failed, 0) AS failed, last.started_at,
       coalesce(ended.status, 'running or killed') AS last_run
FROM last LEFT JOIN ended USING (run_id) LEFT JOIN done USING (stage)
ORDER BY last.started_at
