-- Items that a stage has dealt with for good at one version; those to be tried again are left out.
SELECT item_id, arg_max(status, (done_at, run_id)) AS status
FROM work
WHERE stage = $stage AND version = $version
GROUP BY item_id
HAVING arg_max(status, (done_at, run_id)) <> 'retry'
