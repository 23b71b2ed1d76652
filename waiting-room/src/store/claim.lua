-- The gate: issues one admission, or says why not. Never more than the rate in any 60 seconds,
-- never more than the cap at once, however many people were called and however they come.
-- ARGV   queue number, rank, jti, kid, leeway in seconds
-- Answers {outcome = "issued", jti, kid, iat, exp, issued_ms} | {outcome = "again", jti, kid, iat, exp}
--       | {outcome = "not_called" | "missed" | "over" | "sold_out" | "no_room"}
--       | {outcome = "gate_full", reason = "rate" | "cap" | mode, wait_ms}
local person, rank, jti, kid = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local leeway = tonumber(ARGV[5])
if not room.epoch then return answer({outcome = 'no_room'}) end
end_sessions()

local made = redis.call('HGET', ADMISSIONS, person)
if made then
  local old = cjson.decode(made)
  old.outcome = 'again'
  return answer(old)
end
if redis.call('GETBIT', SPENT, person) == 1 then return answer({outcome = 'over'}) end
local current = mode()
if current == 'sold_out' then return answer({outcome = 'sold_out'}) end
if not is_called(person, rank) then return answer({outcome = 'not_called'}) end
if not window_is_open(person, rank) then return answer({outcome = 'missed'}) end
redis.call('SETBIT', CAME, rank, 1)

-- Whoever finds the gate full stays called.
local function gate_full(reason, wait_ms)
  redis.call('ZADD', STANDING, now, person)
  return answer({outcome = 'gate_full', reason = reason, wait_ms = math.ceil(wait_ms)})
end

local function let_through(due)
  local iat = math.floor(now / 1000)
  local exp = iat + number('session_seconds')
  local admission = {jti = jti, kid = kid, iat = iat, exp = exp}
  redis.call('HSET', ADMISSIONS, person, cjson.encode(admission))
  redis.call('ZADD', SESSIONS, (exp + leeway) * 1000, person)
  redis.call('RPUSH', ISSUED, now)
  redis.call('HSET', ROOM, 'next_token_due_ms', string.format('%.3f', due))
  redis.call('HINCRBY', ROOM, 'tokens_total', 1)
  redis.call('SETBIT', SPENT, person, 1)
  for _, key in ipairs({STANDING, RECALLED, LINE}) do redis.call('ZREM', key, person) end
  set_present(rank, 0)
  admission.outcome, admission.issued_ms = 'issued', now
  return answer(admission)
end

-- After a lost store, until every node has said what it alone knows.
if now < number('shut_until_ms') then return gate_full('restoring', number('shut_until_ms') - now) end
if room.method == 'passthrough' and current ~= 'paused' and current ~= 'closed' then return let_through(now) end
if room.method == 'reject' then return gate_full('closed', 5000) end
if current ~= 'open' and current ~= 'draining' then return gate_full(current, 5000) end

-- The rolling minute, exactly: the times of the tokens of the last 60 seconds.
while true do
  local oldest = redis.call('LINDEX', ISSUED, 0)
  if not oldest or tonumber(oldest) > now - 60000 then break end
  redis.call('LPOP', ISSUED)
end
local rate_max, issued = number('rate_per_minute'), redis.call('LLEN', ISSUED)
local by_minute, by_cap = rate_max - issued, number('sessions_max') - redis.call('ZCARD', SESSIONS)

-- And smoothly (GCRA, ITU-T I.371 annex A): at most one second's worth at once, and nothing saved
-- up while nobody came. A rate that pressure has lowered acts here.
local rate = number('rate_effective')
local interval_ms = 60000 / rate
local tolerance_ms = (math.max(1, rate / 60) - 1) * interval_ms
local due = math.max(number('next_token_due_ms'), now)
local by_rate = math.floor((tolerance_ms - (due - now)) / interval_ms) + 1

-- In the order in which people came to the gate: whoever asks by chance at the right moment must not
-- overtake those who stand there. Who has not asked again for some seconds stands there no more.
while true do
  local first = redis.call('ZRANGE', LINE, 0, 0)[1]
  if not first or tonumber(redis.call('ZSCORE', STANDING, first) or 0) > now - 7000 then break end
  redis.call('ZREM', LINE, first)
end
local ahead = redis.call('ZRANK', LINE, person) or redis.call('ZCARD', LINE)
local tokens = math.min(by_minute, by_cap, by_rate)
-- A token that nobody of the line has asked for, half a second after the gate was last seen shut or let
-- somebody through, goes to whoever comes.
local kept_for_the_line = now - number('gate_kept_ms') <= 500
if tokens < 1 then set('gate_kept_ms', now) end
if ahead < tokens or tokens > 0 and not kept_for_the_line then
  set('gate_kept_ms', now)
  return let_through(due + interval_ms)
end

redis.call('ZADD', LINE, 'NX', now, person)
-- When it is his turn, if those ahead of him come for theirs.
if by_cap <= ahead then
  local session = redis.call('ZRANGE', SESSIONS, ahead - by_cap, ahead - by_cap, 'WITHSCORES')
  return gate_full('cap', math.max(0, (tonumber(session[2]) or now) - now))
end
local wait_ms = (ahead - by_rate + 1) * interval_ms
if by_minute <= ahead then
  local frees = redis.call('LINDEX', ISSUED, ahead - by_minute) or now
  wait_ms = math.max(wait_ms, tonumber(frees) + 60000 - now)
end
return gate_full('rate', math.max(0, wait_ms))
