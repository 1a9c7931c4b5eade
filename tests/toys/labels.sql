-- Every label that counts, but for the count itself.
SELECT * FROM current_labels WHERE function_id <> 'total'
