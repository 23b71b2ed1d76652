-- Operations that are not done, by kind and state, and how long the oldest of them has been there, in
-- seconds.
SELECT kind, state, count(*), extract(epoch FROM now() - min(created_at))::float8
FROM payments
WHERE next_check_at IS NOT NULL
GROUP BY kind, state
