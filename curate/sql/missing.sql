-- Projects that were asked for and could not be taken in, by reason.
SELECT reason, count(*) AS count
FROM current_failures
WHERE stage = 'mine' AND item_id = work_item
GROUP BY reason
ORDER BY count DESC, reason
