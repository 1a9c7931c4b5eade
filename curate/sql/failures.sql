-- Failures that count, by stage and reason, with an example of each.
SELECT stage, reason, count(*) AS count, arg_min(subject, item_id) AS example, arg_min(detail, item_id) AS detail
FROM current_failures
GROUP BY stage, reason
ORDER BY stage, count DESC, reason
