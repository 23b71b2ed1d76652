-- Gives a place up for good. A session that was admitted keeps its lease: its token still works.
-- ARGV   queue number, rank
-- Answers {outcome = "left"}
local person, rank = ARGV[1], tonumber(ARGV[2])
redis.call('SETBIT', SPENT, person, 1)
redis.call('ZREM', STANDING, person)
set_present(rank, 0)
return answer({outcome = 'left'})
