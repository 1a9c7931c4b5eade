-- The folders that a snapshot's modules are imported from, the one with most functions first: a module's dotted name,
-- taken off the end of its path, leaves that folder.
CREATE TEMP VIEW import_roots AS
WITH modules AS (
    SELECT
        snapshot_id,
        CASE
            WHEN ends_with(path, '/__init__.py') THEN left(path, length(path) - length('/__init__.py'))
            ELSE left(path, length(path) - length('.py'))
        END AS place,
        replace(module, '.', '/') AS name
    FROM current_functions
    WHERE NOT in_tests AND ends_with(path, '.py')
)

SELECT snapshot_id, list(root ORDER BY functions DESC, root) AS roots
FROM (
    SELECT snapshot_id, left(place, length(place) - length(name)) AS root, count(*) AS functions
    FROM modules
    WHERE place = name OR ends_with(place, '/' || name)
    GROUP BY ALL
)
GROUP BY snapshot_id
