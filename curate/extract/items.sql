-- Snapshots whose files are to be read. One item is one snapshot.
SELECT snapshot_id AS item_id, snapshot_id AS unit, name, snapshot_id
FROM current_snapshots
ORDER BY name, snapshot_id
