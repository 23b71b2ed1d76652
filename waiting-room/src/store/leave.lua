-- Gives a place up for good. A session that was admitted keeps its lease: its token still works.
-- ARGV   queue number, rank
-- Answers {outcome = "left"}
local person, rank = ARGV[1], tonumber(ARGV[2])
if tonumber(person) > number('last_number') then return answer({outcome = 'left'}) end
redis.call('SETBIT', SPENT, person, 1)
for _, key in ipairs({STANDING, RECALLED, PRIORITY, LINE}) do redis.call('ZREM', key, person) end
set_present(rank, 0)
return answer({outcome = 'left'})
