-- The revoked tokens that are not dead yet.
-- KEYS   revoked
-- Answers a list of jti
local time = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time[1] * 1000)
local tokens = redis.call('ZRANGE', KEYS[1], 0, -1)
if #tokens == 0 then return '[]' end
return cjson.encode(tokens)
