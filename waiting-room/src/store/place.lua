-- Tells where a called person stands; people still waiting are answered from memory.
-- ARGV   queue number, rank
-- Answers {place = "waiting" | "ready" | "admitted" | "missed" | "over", left_ms}
local person, rank = ARGV[1], tonumber(ARGV[2])

if redis.call('HEXISTS', ADMISSIONS, person) == 1 then
  return answer({place = 'admitted', left_ms = math.max(0, tonumber(redis.call('ZSCORE', SESSIONS, person) or 0) - now)})
end
if redis.call('GETBIT', SPENT, person) == 1 then return answer({place = 'over', left_ms = 0}) end
if rank > number('serving') then return answer({place = 'waiting', left_ms = 0}) end
if not window_is_open(person, rank) then return answer({place = 'missed', left_ms = 0}) end

-- The first call that reached this rank, or the later moment at the gate.
local called = redis.call('ZRANGE', CALLS, '(' .. (now - number('claim_window_ms')), '+inf', 'BYSCORE', 'WITHSCORES')
local since = 0
for i = 1, #called, 2 do
  if tonumber(called[i]) >= rank then since = tonumber(called[i + 1]) break end
end
since = math.max(since, tonumber(redis.call('ZSCORE', STANDING, person) or 0))
return answer({place = 'ready', left_ms = math.max(0, since + number('claim_window_ms') - now)})
