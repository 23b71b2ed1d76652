-- Ends sessions before their tokens do: frees their places and revokes the tokens.
-- KEYS   sessions, admissions, revoked
-- ARGV   pairs of queue number and jti
-- Answers a list of {jti, left_ms}: those ended by this, and how long their tokens would still be good
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Tokens that are dead by now need no refusing. They have died about in the order in which they were
-- revoked, so that looking at the oldest is enough.
for _, entry in ipairs(redis.call('ZRANGE', KEYS[3], 0, #ARGV)) do
  if tonumber(string.match(entry, '%d+$')) <= now then redis.call('ZREM', KEYS[3], entry) end
end

local ended = {}
for i = 1, #ARGV, 2 do
  local person, jti = ARGV[i], ARGV[i + 1]
  local made = redis.call('HGET', KEYS[2], person)
  -- Another admission of the same person is another session.
  if made and cjson.decode(made).jti == jti then
    local ends = tonumber(redis.call('ZSCORE', KEYS[1], person) or 0)
    redis.call('ZREM', KEYS[1], person)
    redis.call('HDEL', KEYS[2], person)
    if ends > now then
      redis.call('ZADD', KEYS[3], now, jti .. ':' .. ends)
      table.insert(ended, {jti = jti, left_ms = ends - now})
    end
  end
end
if #ended == 0 then return '[]' end
return cjson.encode(ended)
