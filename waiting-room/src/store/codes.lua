-- Adds access codes, or takes them away (0 uses).
-- ARGV   who, then triples of code, uses, lane ("normal" or "priority")
-- Answers {codes = how many there are now}, or {codes = -1} when there is no such room
if not room.epoch then return answer({codes = -1}) end
for i = 2, #ARGV, 3 do
  if ARGV[i + 1] == '0' then
    redis.call('HDEL', CODES, ARGV[i])
  else
    redis.call('HSET', CODES, ARGV[i], ARGV[i + 1] .. ':' .. ARGV[i + 2])
  end
end
local codes = redis.call('HLEN', CODES)
audit(ARGV[1], 'access_codes', '', codes)
return answer({codes = codes})
