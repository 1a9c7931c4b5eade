-- The group of duplicates, and who stands for it.
SELECT c.relation, c.similarity, s.name || ':' || f.path || ':' || f.qualname AS representative
FROM current_clusters AS c
JOIN current_functions AS f ON f.function_id = c.representative_id
JOIN current_snapshots AS s ON s.snapshot_id = f.snapshot_id
WHERE c.function_id = $function_id
