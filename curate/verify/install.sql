-- Every snapshot gets an environment.
SELECT
    snapshot_id AS item_id,
    snapshot_id AS unit,
    name,
    revision,
    committed_at,
    requires_python
FROM current_snapshots
ORDER BY name, snapshot_id
