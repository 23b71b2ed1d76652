-- Tells where a called person stands; people still waiting are answered from memory.
-- ARGV   queue number, rank
-- Answers {place = "waiting" | "ready" | "admitted" | "missed" | "over", left_ms, lane_ahead}
local person, rank = ARGV[1], tonumber(ARGV[2])
local function place(word, left_ms)
  return answer({place = word, left_ms = math.max(0, left_ms or 0)})
end

if redis.call('HEXISTS', ADMISSIONS, person) == 1 then
  return place('admitted', tonumber(redis.call('ZSCORE', SESSIONS, person) or now) - now)
end
if redis.call('GETBIT', SPENT, person) == 1 then return place('over') end
local lane_ahead = redis.call('ZRANK', PRIORITY, person)
if lane_ahead then return answer({place = 'waiting', left_ms = 0, lane_ahead = lane_ahead}) end
if not is_called(person, rank) then return place('waiting') end
if not window_is_open(person, rank) then return place('missed') end

-- The first call that reached this rank, or a later call of his own, or his last time at the gate.
local window_ms = number('claim_window_ms')
local since = room.method == 'passthrough' and now or 0
local calls = redis.call('ZRANGE', CALLS, '(' .. (now - window_ms), '+inf', 'BYSCORE', 'WITHSCORES')
for i = 1, #calls, 2 do
  if tonumber(string.match(calls[i], '^%d+')) >= rank then since = tonumber(calls[i + 1]) break end
end
for _, key in ipairs({RECALLED, STANDING}) do
  since = math.max(since, tonumber(redis.call('ZSCORE', key, person) or 0))
end
return place('ready', since + window_ms - now)
