-- Calls somebody again who missed his turn and is back: he keeps his number, and has a whole claim
-- window again. The gate decides when he gets in.
-- ARGV   queue number, rank
-- Answers {outcome = "recalled" | "unchanged"}
local person, rank = ARGV[1], tonumber(ARGV[2])
if is_called(person, rank) and redis.call('GETBIT', SPENT, person) == 0 and not window_is_open(person, rank) then
  redis.call('ZADD', RECALLED, now, person)
  return answer({outcome = 'recalled'})
end
return answer({outcome = 'unchanged'})
