-- Creates a room or changes its settings; what is in the queue stays.
-- ARGV   version that the caller has seen (0 = any), config as JSON, then the fields that scripts
--        read: opens_at_ms, rate_per_minute, sessions_max, claim_window_ms, session_seconds,
--        queue_length_max (0 = none)
-- Answers {outcome = "created" | "changed" | "overtaken"}
local expected = tonumber(ARGV[1])
if expected ~= 0 and expected ~= number('version') then return answer({outcome = 'overtaken'}) end

local created = not room.epoch
if created then
  redis.call('HSET', ROOM, 'epoch', now, 'control', 'open', 'last_number', 0, 'serving', 0, 'presence_since_ms', now)
end
redis.call('HSET', ROOM, 'config', ARGV[2], 'opens_at_ms', ARGV[3], 'rate_per_minute', ARGV[4],
  'sessions_max', ARGV[5], 'claim_window_ms', ARGV[6], 'session_seconds', ARGV[7], 'queue_length_max', ARGV[8])
redis.call('HINCRBY', ROOM, 'version', 1)
return answer({outcome = created and 'created' or 'changed'})
