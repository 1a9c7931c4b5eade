-- Each environment once, with the steps that led to it.
SELECT environment_id, any_value(lock ORDER BY snapshot_id) AS lock, any_value(python ORDER BY snapshot_id) AS python,
       min(resolved_as_of) AS resolved_as_of, list_distinct(flatten(list(steps ORDER BY snapshot_id))) AS steps
FROM current_environments
GROUP BY environment_id
ORDER BY environment_id
