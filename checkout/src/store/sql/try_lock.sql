-- $1 a number
SELECT pg_try_advisory_lock($1)
