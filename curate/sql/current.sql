-- Which entries of `work` count: for every stage those of the wanted version (else of the version that ran last), and of
-- these the newest an item. A stage that reads whole tables has one result, so only its newest entry counts.
CREATE TEMP VIEW counting AS
SELECT stage, coalesce(wanted.version, newest.version) AS version
FROM (SELECT stage, arg_max(version, (done_at, run_id)) AS version FROM work GROUP BY stage) AS newest
LEFT JOIN wanted USING (stage);

CREATE TEMP TABLE current_work AS
SELECT run_id, item_id AS work_item, stage, status
FROM work
SEMI JOIN counting USING (stage, version)
QUALIFY row_number() OVER (
    PARTITION BY stage, CASE WHEN stage IN (SELECT stage FROM whole) THEN '' ELSE item_id END
    -- What could not be done this time does not undo what was done before.
    ORDER BY status = 'retry', done_at DESC, run_id DESC
) = 1;

-- Two requests may lead to one snapshot (a tag and its commit): it is read once.
CREATE TEMP VIEW one_snapshot_an_id AS
SELECT * FROM snapshots SEMI JOIN current_work USING (run_id, work_item)
WHERE work_item IN (SELECT item_id FROM scope) OR NOT EXISTS (SELECT 1 FROM scope)
QUALIFY row_number() OVER (PARTITION BY snapshot_id ORDER BY work_item) = 1;
