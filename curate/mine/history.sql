-- Snapshots of git repositories, whose histories can be fetched. One item is one snapshot.
SELECT snapshot_id AS item_id, snapshot_id AS unit, name, snapshot_id, work_item AS request, url, revision
FROM current_snapshots
WHERE source IN ('git', 'github')
ORDER BY name, snapshot_id
