-- Since when it has been there.
SELECT
    first_seen_at, first_seen_commit, first_seen_path, body_seen_at, body_seen_commit, changed_at, changed_commit,
    complete, how
FROM current_appearances WHERE function_id = $function_id
