-- Where it was found in known corpora.
SELECT corpus, item_id, relation, overlap FROM current_matches WHERE function_id = $function_id ORDER BY overlap DESC, 1, 2
