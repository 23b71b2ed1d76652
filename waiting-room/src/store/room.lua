-- The head of every script of a room: names its keys, reads its scalars, takes the store's time.
--
-- KEYS   the same list for every script, all with the hash tag {event}; see keys.rs
-- Times are milliseconds since the Unix epoch, by the clock of Redis and of nobody else.
local ROOM, ISSUED, SESSIONS, ADMISSIONS, SPENT, PRESENT, SEEN, CALLS, STANDING = unpack(KEYS)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local room = {}
do
  local flat = redis.call('HGETALL', ROOM)
  for i = 1, #flat, 2 do room[flat[i]] = flat[i + 1] end
end

local function number(field) return tonumber(room[field]) or 0 end

local function answer(outcome) return cjson.encode(outcome) end

-- What the operator has set, and the opening time, give the mode.
local function mode()
  if room.control ~= 'open' then return room.control end
  if now < number('opens_at_ms') then return 'pre_queue' end
  return 'open'
end

-- A session is a lease: it ends by itself when its token is dead everywhere.
local function end_sessions()
  repeat
    local ended = redis.call('ZRANGEBYSCORE', SESSIONS, '-inf', now, 'LIMIT', 0, 500)
    if #ended > 0 then
      redis.call('ZREM', SESSIONS, unpack(ended))
      redis.call('HDEL', ADMISSIONS, unpack(ended))
    end
  until #ended < 500
end

-- Everybody up to this rank was called longer ago than the claim window.
local function window_closed_at()
  local last = redis.call('ZREVRANGEBYSCORE', CALLS, now - number('claim_window_ms'), '-inf', 'LIMIT', 0, 1)
  return tonumber(last[1]) or 0
end

-- Called, and the window is still open: by the serving counter, or because he stands at the gate
-- or was called again after a missed turn.
local function window_is_open(person, rank)
  if rank > window_closed_at() then return true end
  local since = redis.call('ZSCORE', STANDING, person)
  return since and tonumber(since) > now - number('claim_window_ms')
end

local function set_present(rank, bit)
  redis.call('SETBIT', PRESENT, rank, bit)
  redis.call('SETBIT', SEEN, rank, bit)
end
