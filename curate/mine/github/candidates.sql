-- Every repository that searches have found, once, as it was seen last; with what was looked up about it, what its files
-- are like, and why it could not be looked up or taken in.
WITH
    -- What a newer search over the same time did not find again is no hit any more: it lost a topic, or went private.
    stale AS (
        SELECT DISTINCT h.run_id, h.work_item, h.host, h.repository_id
        FROM current_hits AS h
        JOIN current_searches AS s
            ON s.host = h.host AND s.query = h.query AND s.status = 'complete' AND s.run_id > h.run_id
            AND h.created_at BETWEEN s.created_from AND s.created_to
    ),
    seen AS (
        SELECT
            host, repository_id, host || '/' || repository_id AS item_id, list(DISTINCT query ORDER BY query) AS queries,
            list(DISTINCT full_name ORDER BY full_name) AS names,
            arg_max(h, (run_id, work_item)) AS newest
        FROM (SELECT * FROM current_hits ANTI JOIN stale USING (run_id, work_item, host, repository_id)) AS h
        GROUP BY host, repository_id
    ),
    failed AS (
        SELECT f.stage, f.work_item, f.reason, f.detail, w.status = 'retry' AS transient
        FROM current_failures AS f
        JOIN current_work AS w USING (run_id, work_item)
        WHERE f.stage IN ('repositories', 'mine') AND f.item_id = f.work_item
    ),
    -- From the rows of the work itself: two requests may lead to one snapshot, after a rename for instance.
    taken AS (SELECT work_item, any_value(p) AS profile FROM (SELECT * FROM profiles SEMI JOIN current_work USING (run_id, work_item)) AS p GROUP BY work_item)
SELECT
    s.host, s.repository_id, s.item_id, s.queries, r.revision, r.root_commit, r.fork_of, r.template, r.etags,
    coalesce(r.full_name, s.newest.full_name) AS full_name,
    list_distinct(list_concat(s.names, coalesce(r.former_names, []))) AS former_names,
    coalesce(r.stars, s.newest.stars) AS stars,
    s.newest.fork OR r.fork_of IS NOT NULL AS fork,
    coalesce(r.archived, s.newest.archived) AS archived,
    s.newest.is_template AS is_template,
    coalesce(r.size_kb, s.newest.size_kb) AS size_kb,
    coalesce(r.language, s.newest.language) AS language,
    CASE WHEN r.host IS NULL THEN s.newest.license ELSE r.license END AS license,
    s.newest.created_at AS created_at,
    coalesce(l.reason, m.reason) AS failure, coalesce(l.detail, m.detail) AS failure_detail,
    coalesce(l.transient, m.transient) AS failure_transient,
    t.profile
FROM seen AS s
LEFT JOIN current_repositories AS r ON r.work_item = s.item_id
LEFT JOIN failed AS l ON l.stage = 'repositories' AND l.work_item = s.item_id
LEFT JOIN failed AS m ON m.stage = 'mine' AND m.work_item = 'github:' || r.full_name || '@' || r.revision
LEFT JOIN taken AS t ON t.work_item = 'github:' || r.full_name || '@' || r.revision
ORDER BY s.host, s.repository_id
