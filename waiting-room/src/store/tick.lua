-- Moves the serving counter by what a node has worked out from the last answer, and answers with
-- the room as it is now. Any number of nodes may run it: people are called only from the state that
-- the node has seen, so that two nodes with the same view call nobody twice.
-- ARGV   people called in all as the node saw it, people to call, up to when that counts (ms),
--        grace of a heartbeat (ms), queue delay of the checkout that is too much (ms)
-- Answers the snapshot (store/outcome.rs), or {} when there is no such room
local seen_called, people, called_until = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local grace_ms, pressure_ms_max = tonumber(ARGV[4]), tonumber(ARGV[5])
if not room.epoch then return '{}' end
end_sessions()
open_if_due()

local last, serving = number('last_number'), number('serving')
local current = mode()

-- Somebody who was not seen for a whole grace period is not there: what was gathered in this
-- period becomes what counts, and gathering begins anew.
if now - number('presence_since_ms') >= grace_ms then
  if redis.call('EXISTS', SEEN) == 1 then redis.call('RENAME', SEEN, PRESENT) else redis.call('DEL', PRESENT) end
  set('presence_since_ms', now)
end
-- Joins are remembered for one to two minutes, for those whose answer was lost.
if now - number('recent_since_ms') >= 60000 then
  if redis.call('EXISTS', RECENT) == 1 then redis.call('RENAME', RECENT, RECENT_BEFORE) else redis.call('DEL', RECENT_BEFORE) end
  set('recent_since_ms', now)
end

-- What the checkout says: stock left and held, and how long its writers' queue makes people wait.
local signals = {}
do
  local flat = redis.call('HGETALL', SIGNALS)
  for i = 1, #flat, 2 do signals[flat[i]] = flat[i + 1] end
end
local left, held = tonumber(signals.left), tonumber(signals.held)
local pressure = 0
for field, value in pairs(signals) do
  local at, delay = string.match(string.sub(field, 1, 9) == 'pressure:' and value or '', '^(%d+):(%d+)$')
  if at and now - tonumber(at) < 5000 then pressure = math.max(pressure, tonumber(delay)) end
end

-- Additive increase, multiplicative decrease, once a second, between a tenth of the rate and all of it.
local rate = number('rate_per_minute')
if now - number('rate_adjusted_ms') >= 1000 then
  local effective = math.min(number('rate_effective'), rate)
  if pressure > pressure_ms_max then
    effective = math.max(effective * 0.7, rate / 10)
  else
    effective = math.min(effective + rate / 30, rate)
  end
  set('rate_effective', string.format('%.3f', math.max(effective, 1)))
  set('rate_adjusted_ms', now)
end

local function present_in(from, to)
  if from > to then return 0 end
  return redis.call('BITCOUNT', PRESENT, from, to, 'BIT')
end

-- The smallest rank up to which `wanted` people who are there have been called; absent ones between
-- them are passed over. Halving the range counts bits and never walks over people.
local function call_up_to(wanted)
  local there = present_in(serving + 1, last)
  if there <= wanted then return last, there end
  local low, high = serving, last
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if present_in(serving + 1, middle) >= wanted then high = middle else low = middle end
  end
  return high, wanted
end

local calling = (current == 'open' or current == 'draining') and room.method ~= 'reject' and left ~= 0
if room.method == 'passthrough' and calling then
  serving = last
  set('serving', serving)
elseif calling and people > 0 and number('called_total') == seen_called then
  local called = 0
  -- The priority lane first, one by one: they are few, and each is called by name.
  local first = redis.call('ZPOPMIN', PRIORITY, people)
  for i = 1, #first, 2 do
    redis.call('ZADD', RECALLED, now, first[i])
    called = called + 1
  end
  if called < people and serving < last then
    local there
    serving, there = call_up_to(people - called)
    called = called + there
    set('serving', serving)
  end
  if called > 0 then
    set('called_total', seen_called + called)
    redis.call('ZADD', CALLS, now, serving .. ':' .. (seen_called + called))
  end
  set('called_until_ms', called_until)
end

-- The people who were called ten to seventy seconds ago, and those called since.
local closed = called_by(number('claim_window_ms'))
local cohort_from, cohort_from_called = called_by(70000)
local cohort_to, cohort_to_called = called_by(10000)
local function came(from, to)
  if from > to then return 0 end
  return redis.call('BITCOUNT', CAME, from, to, 'BIT')
end

local keep_ms = math.max(number('claim_window_ms'), 70000)
local kept = redis.call('ZREVRANGEBYSCORE', CALLS, now - keep_ms, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
if kept[2] then redis.call('ZREMRANGEBYSCORE', CALLS, '-inf', '(' .. kept[2]) end
redis.call('ZREMRANGEBYSCORE', STANDING, '-inf', now - number('claim_window_ms'))

-- How many are there, in up to 64 stretches of the queue: enough for anybody to find his own place
-- among those who are there.
local stretch, there_by_stretch = 0, nil
if serving < last then
  stretch = math.ceil((last - serving) / 64)
  there_by_stretch = {}
  for from = serving + 1, last, stretch do
    table.insert(there_by_stretch, present_in(from, math.min(from + stretch - 1, last)))
  end
end

local gate_free_at = number('next_token_due_ms')
local minute_ago = redis.call('LINDEX', ISSUED, -rate)
if minute_ago then gate_free_at = math.max(gate_free_at, tonumber(minute_ago) + 60000) end

return answer({
  now_ms = now, epoch = number('epoch'), version = number('version'), config = room.config,
  control = room.control, mode = current, last_number = last, serving = serving, window_closed = closed,
  opened_at_ms = number('opened_at_ms'), draw_n = number('draw_n'), seed = room.seed,
  waiting = present_in(serving + 1, last) + redis.call('ZCARD', PRIORITY),
  stretch = stretch, there_by_stretch = there_by_stretch,
  called_total = number('called_total'), called_until_ms = number('called_until_ms'),
  cohort_called = cohort_to_called - cohort_from_called, cohort_came = came(cohort_from + 1, cohort_to),
  on_their_way = math.max(0, number('called_total') - cohort_to_called - came(cohort_to + 1, serving)),
  standing = redis.call('ZCOUNT', STANDING, now - 10000, '+inf'),
  gate_free_in_ms = math.max(0, math.ceil(gate_free_at - now)),
  active = redis.call('ZCARD', SESSIONS), tokens_total = number('tokens_total'),
  rate_effective = math.floor(number('rate_effective')), pressure_ms = pressure,
  stock_left = left, stock_held = held,
})
