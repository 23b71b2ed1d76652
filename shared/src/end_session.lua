-- Ends a session before its token does: frees its place and revokes the token.
-- KEYS   sessions, admissions, revoked
-- ARGV   queue number, jti
-- Answers {ended}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local made = redis.call('HGET', KEYS[2], ARGV[1])
if not made then return cjson.encode({ended = false}) end
local admission = cjson.decode(made)
-- Another admission of the same person is another session.
if admission.jti ~= ARGV[2] then return cjson.encode({ended = false}) end
local ends = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
if ends > now then redis.call('ZADD', KEYS[3], ends, ARGV[2]) end
return cjson.encode({ended = true})
