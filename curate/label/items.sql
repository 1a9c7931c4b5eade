-- Functions to label: those with behaviour of their own, tests left out. Each comes with the words that are common in
-- its project, since what a project is about tells what its helpers work on. A word is common when a share of at least
-- $common_share of the project's functions has it in path, name or parameters; at most the 60 commonest are taken.
WITH candidates AS (
    SELECT f.*, s.name AS project
    FROM current_functions AS f
    JOIN current_snapshots AS s USING (snapshot_id)
    WHERE NOT f.in_tests AND NOT f.is_stub
),
sizes AS (
    SELECT snapshot_id, count(*) AS functions FROM candidates GROUP BY snapshot_id
),
pieces AS (
    SELECT
        snapshot_id,
        function_id,
        unnest(regexp_extract_all(
            concat_ws(' ', path, qualname, array_to_string(arguments, ' ')), '[A-Z]?[a-z]+|[A-Z]'
        )) AS piece
    FROM candidates
),
shares AS (
    SELECT snapshot_id, lower(piece) AS word, count(DISTINCT function_id) AS functions
    FROM pieces
    GROUP BY ALL
),
common AS (
    SELECT
        shares.snapshot_id,
        shares.word,
        row_number() OVER (PARTITION BY shares.snapshot_id ORDER BY shares.functions DESC, shares.word) AS place
    FROM shares
    JOIN sizes USING (snapshot_id)
    WHERE shares.functions >= $common_share * sizes.functions
),
projects AS (
    SELECT snapshot_id, string_agg(word, ' ' ORDER BY place) AS words
    FROM common
    WHERE place <= 60
    GROUP BY snapshot_id
)
SELECT
    c.function_id AS item_id,
    c.snapshot_id AS unit,
    c.project || ':' || c.path || ':' || c.qualname AS name,
    c.function_id,
    c.path,
    c.module,
    c.qualname,
    c.kind,
    c.signature,
    c.docstring,
    c.source,
    c.normalised,
    c.context,
    c.decorators,
    c.arguments,
    c.imports,
    c.calls,
    c.bases,
    coalesce(p.words, '') AS project_words
FROM candidates AS c
LEFT JOIN projects AS p USING (snapshot_id)
ORDER BY c.snapshot_id, c.path, c.start_byte, c.function_id
