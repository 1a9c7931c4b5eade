-- What was taken when a source file was last gone through.
SELECT request
FROM choices
WHERE request IS NOT NULL AND (run_id, work_item) = (
    SELECT arg_max((run_id, item_id), (done_at, run_id)) FROM work
    WHERE stage = 'choose' AND item_id = $source_file AND status = 'done'
)
ORDER BY request
