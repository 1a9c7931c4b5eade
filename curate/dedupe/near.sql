-- All pairs of documents whose sets of shingles have a Jaccard similarity of at least $p / $q: a set-similarity join that
-- is exact, since nothing but what provably cannot match is left out.
--
-- Reads sets(document, shingle), without repeated rows. J(x, y) >= p/q needs ceil(p/q |x|) common shingles, so
--   * a document too few of whose shingles occur elsewhere is dropped;
--   * with shingles in one global order (rarest first) two similar documents share one among their first
--     |x| - ceil(p/q |x|) + 1: the prefix filter (Chaudhuri, Ganti, Kaushik 2006);
--   * sizes must lie within p/q of each other, and where the first common shingle stands bounds how many can follow:
--     the length and positional filters (Bayardo, Ma, Srikant 2007; Xiao, Wang, Lin, Yu 2008: PPJoin).
-- What is left is counted. Whole numbers only: 0.7 has no exact float.
WITH sizes AS (
    SELECT document, count(*) AS size FROM sets GROUP BY document
),
frequencies AS (
    SELECT shingle, count(*) AS frequency FROM sets GROUP BY shingle HAVING count(*) > 1
),
alive AS (
    SELECT document, any_value(size) AS size, count(*) AS shared
    FROM sets JOIN frequencies USING (shingle) JOIN sizes USING (document)
    GROUP BY document
    HAVING count(*) * $q >= $p * any_value(size)
),
ranked AS (
    -- Shingles that occur nowhere else are the rarest: they come first, and are counted without being listed.
    SELECT
        document, shingle, size,
        size - shared + row_number() OVER (PARTITION BY document ORDER BY frequency, shingle) AS place
    FROM sets JOIN frequencies USING (shingle) JOIN alive USING (document)
),
prefixes AS (
    SELECT * FROM ranked WHERE place <= size - ($p * size + $q - 1) // $q + 1
),
candidates AS (
    SELECT DISTINCT one.document AS one, other.document AS other, one.size AS one_size, other.size AS other_size
    FROM prefixes AS one
    JOIN prefixes AS other ON one.shingle = other.shingle AND one.document < other.document
    WHERE least(one.size, other.size) * $q >= greatest(one.size, other.size) * $p
      AND (1 + least(one.size - one.place, other.size - other.place)) * ($p + $q) >= $p * (one.size + other.size)
),
counted AS (
    SELECT candidates.one, candidates.other, any_value(one_size) + any_value(other_size) AS total, count(*) AS common
    FROM candidates
    JOIN ranked AS mine ON mine.document = candidates.one
    JOIN ranked AS theirs ON theirs.document = candidates.other AND theirs.shingle = mine.shingle
    GROUP BY candidates.one, candidates.other
)
SELECT one, other, common, total - common AS united
FROM counted
WHERE common * ($p + $q) >= $p * total
ORDER BY one, other
