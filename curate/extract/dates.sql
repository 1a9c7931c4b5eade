-- Every snapshot whose history was fetched, with its functions. One item is one snapshot.
WITH functions AS (
    SELECT
        snapshot_id,
        list(
            {
                'function_id': function_id, 'path': path, 'qualname': qualname, 'cell': cell,
                'normalised_sha256': normalised_sha256
            }
            ORDER BY path, cell, start_byte, function_id
        ) AS functions
    FROM current_functions
    GROUP BY snapshot_id
)

SELECT
    snapshot_id AS item_id,
    snapshot_id AS unit,
    s.name,
    snapshot_id,
    s.revision,
    h.fetched_at,
    functions
FROM current_snapshots AS s
JOIN current_histories AS h USING (snapshot_id)
JOIN functions USING (snapshot_id)
ORDER BY s.name, snapshot_id
