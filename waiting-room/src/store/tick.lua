-- Moves the serving counter by what a node has worked out from the last answer, and answers with
-- the room as it is now. Any number of nodes may run it: the counter moves only from the value the
-- node has seen, so that two nodes with the same view call nobody twice.
-- ARGV   serving counter as the node saw it, people to call, grace of a heartbeat in ms
-- Answers the snapshot (store/outcome.rs), or {} when there is no such room
local seen_serving, people = tonumber(ARGV[1]), tonumber(ARGV[2])
local grace_ms = tonumber(ARGV[3])
if not room.epoch then return '{}' end
end_sessions()

local last, serving = number('last_number'), number('serving')
local current = mode()

-- Somebody who was not seen for a whole grace period is not there: what was gathered in this
-- period becomes what counts, and gathering begins anew.
if now - number('presence_since_ms') >= grace_ms then
  if redis.call('EXISTS', SEEN) == 1 then
    redis.call('RENAME', SEEN, PRESENT)
  else
    redis.call('DEL', PRESENT)
  end
  redis.call('HSET', ROOM, 'presence_since_ms', now)
end

local function present_in(from, to)
  if from > to then return 0 end
  return redis.call('BITCOUNT', PRESENT, from, to, 'BIT')
end

-- The smallest rank up to which `people` who are there have been called; absent ones between them
-- are passed over. Halving the range counts bits and never walks over people.
local function call_up_to()
  if present_in(serving + 1, last) <= people then return last end
  local low, high = serving, last
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if present_in(serving + 1, middle) >= people then high = middle else low = middle end
  end
  return high
end

local calling = current == 'open' or current == 'draining'
if calling and people > 0 and serving == seen_serving and serving < last then
  serving = call_up_to()
  redis.call('HSET', ROOM, 'serving', serving)
  redis.call('ZADD', CALLS, now, serving)
end

local closed = window_closed_at()
redis.call('ZREMRANGEBYSCORE', CALLS, '-inf', '(' .. (tonumber(redis.call('ZSCORE', CALLS, closed) or 0)))
redis.call('ZREMRANGEBYSCORE', STANDING, '-inf', now - number('claim_window_ms'))

return answer({
  now_ms = now, epoch = number('epoch'), version = number('version'), config = room.config,
  mode = current, last_number = last, serving = serving, window_closed = closed,
  waiting = present_in(serving + 1, last),
  called = present_in(closed + 1, serving),
  active = redis.call('ZCARD', SESSIONS), tokens_total = number('tokens_total'),
})
