-- Creates a room or changes its settings; what is in the queue stays.
-- ARGV   who, version that the caller has seen (0 = any), a new seed in hex, config as JSON, then pairs
--        of the fields that scripts read and their values
-- Answers {outcome = "created" | "changed" | "overtaken"}
local who, expected, seed, config = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
if expected ~= 0 and expected ~= number('version') then return answer({outcome = 'overtaken'}) end

local created = not room.epoch
if created then
  redis.call('HSET', ROOM, 'epoch', now, 'control', 'open', 'last_number', 0, 'serving', 0, 'seed', seed,
    'presence_since_ms', now, 'recent_since_ms', now, 'called_until_ms', now)
end
audit(who, created and 'create' or 'change', room.config or '', config)
redis.call('HSET', ROOM, 'config', config, unpack(ARGV, 5))
local rate = tonumber(redis.call('HGET', ROOM, 'rate_per_minute'))
-- A new rate holds at once, unless pressure keeps it lower.
if created or number('rate_effective') >= number('rate_per_minute') or number('rate_effective') > rate then
  redis.call('HSET', ROOM, 'rate_effective', rate)
end
-- A token that was due at the old rate is due no later than the new one has it.
local due = math.min(number('next_token_due_ms'), now + 60000 / rate)
redis.call('HSET', ROOM, 'next_token_due_ms', string.format('%.3f', due))
redis.call('HINCRBY', ROOM, 'version', 1)
return answer({outcome = created and 'created' or 'changed'})
