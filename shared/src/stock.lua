-- Notes what is left to sell, and one instance's queue delay.
-- KEYS   signals
-- ARGV   instance, places left, places held, queue delay in ms
-- Answers {}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local left, held = tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('HSET', KEYS[1], 'left', left, 'held', held, 'sold_out', (left == 0 and held == 0) and '1' or '0',
  'pressure:' .. ARGV[1], now .. ':' .. ARGV[4])
-- Instances that are gone are forgotten.
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local at = string.match(fields[i + 1], '^(%d+):%d+$')
  if at and now - tonumber(at) > 60000 then redis.call('HDEL', KEYS[1], fields[i]) end
end
return '{}'
