-- The head of every script of a room: names its keys, reads its scalars, takes the store's time.
--
-- KEYS   the same list for every script, all with the hash tag {event}; see keys.rs
-- Times are milliseconds since the Unix epoch, by the clock of Redis and of nobody else.
local ROOM, ISSUED, SESSIONS, ADMISSIONS, SPENT, PRESENT, SEEN, CALLS, CAME, STANDING, RECALLED,
  PRIORITY, CODES, IDENTITIES, RECENT, RECENT_BEFORE, LOST, LINE, SIGNALS,
  AUDIT = unpack(KEYS)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local room = {}
do
  local flat = redis.call('HGETALL', ROOM)
  for i = 1, #flat, 2 do room[flat[i]] = flat[i + 1] end
end

local function number(field) return tonumber(room[field]) or 0 end

local function set(field, value)
  redis.call('HSET', ROOM, field, value)
  room[field] = tostring(value)
end

local function answer(outcome) return cjson.encode(outcome) end

-- What the operator wants, what the checkout says, and the opening time give the mode.
local function mode()
  if room.control ~= 'open' and room.control ~= 'draining' then return room.control end
  if redis.call('HGET', SIGNALS, 'sold_out') == '1' then return 'sold_out' end
  if now < number('pre_queue_at_ms') then return 'scheduled' end
  -- A draw that waits for its public value does not open without it.
  if now < number('opens_at_ms') or room.beacon_missing == '1' then return 'pre_queue' end
  return room.control
end

local function set_present(rank, bit)
  redis.call('SETBIT', PRESENT, rank, bit)
  redis.call('SETBIT', SEEN, rank, bit)
end

-- At the opening, in one step: whoever has come by now is drawn, and counts as there until a whole
-- grace period says otherwise, since ranks and numbers are not the same from here on.
local function open_if_due()
  if room.opened_at_ms or mode() ~= room.control then return end
  set('opened_at_ms', now)
  local n = number('last_number')
  if room.method ~= 'random' or n == 0 then return end
  set('draw_n', n)
  set('presence_since_ms', now)
  redis.call('DEL', SEEN)
  redis.call('SET', PRESENT, string.rep('\255', math.floor((n + 1) / 8)))
  for rank = math.floor((n + 1) / 8) * 8, n do redis.call('SETBIT', PRESENT, rank, 1) end
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

-- The last call that is at least `age_ms` old, as "serving counter:people called by then".
local function called_by(age_ms)
  local last = redis.call('ZREVRANGEBYSCORE', CALLS, now - age_ms, '-inf', 'LIMIT', 0, 1)
  if not last[1] then return 0, 0 end
  local serving, people = string.match(last[1], '^(%d+):(%d+)$')
  return tonumber(serving), tonumber(people)
end

-- Called, and the window is still open: by the serving counter, by a call of his own (the priority
-- lane, or again after a missed turn), or because he stands at the gate.
local function window_is_open(person, rank)
  if room.method == 'passthrough' then return true end
  if rank <= number('serving') and rank > called_by(number('claim_window_ms')) then return true end
  for _, key in ipairs({RECALLED, STANDING}) do
    local since = redis.call('ZSCORE', key, person)
    if since and tonumber(since) > now - number('claim_window_ms') then return true end
  end
  return false
end

local function is_called(person, rank)
  return rank <= number('serving') or room.method == 'passthrough'
    or redis.call('ZSCORE', RECALLED, person) ~= false
end

-- Appends to the log of changes: who, what, before, after.
local function audit(who, what, before, after)
  redis.call('XADD', AUDIT, 'MAXLEN', '~', 10000, '*', 'at_ms', now, 'who', who, 'what', what,
    'before', before, 'after', after)
end
