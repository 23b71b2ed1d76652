-- Adds what one node alone knows to a restored room: the tokens that it has issued, whose sessions still
-- run, and the places that are spent.
-- ARGV   how many tokens follow, those, then spent queue numbers
--        a token: queue number, issue time in ms, end of its lease in ms, its admission as JSON
-- Answers {added}
local tokens, added = tonumber(ARGV[1]), 0
if not room.epoch then return answer({added = 0}) end
local times = {}
for t = 0, tokens - 1 do
  local person, issued = ARGV[2 + 4 * t], tonumber(ARGV[3 + 4 * t])
  local ends = tonumber(ARGV[4 + 4 * t])
  if ends > now and redis.call('HSETNX', ADMISSIONS, person, ARGV[5 + 4 * t]) == 1 then
    redis.call('ZADD', SESSIONS, ends, person)
    added = added + 1
    -- It was counted without a name if the restoring node had seen it: under the first moment at or
    -- after its issue.
    local unnamed = redis.call('ZRANGEBYSCORE', LOST, issued, '+inf', 'LIMIT', 0, 1)[1]
    if unnamed then
      redis.call('ZREM', LOST, unnamed)
      redis.call('ZREM', SESSIONS, unnamed)
    elseif issued > now - 60000 then
      table.insert(times, issued)
    end
  end
end
if #times > 0 then
  for _, issued in ipairs(redis.call('LRANGE', ISSUED, 0, -1)) do table.insert(times, tonumber(issued)) end
  table.sort(times)
  redis.call('DEL', ISSUED)
  for _, issued in ipairs(times) do redis.call('RPUSH', ISSUED, issued) end
end
for i = 2 + 4 * tokens, #ARGV do redis.call('SETBIT', SPENT, ARGV[i], 1) end
return answer({added = added})
