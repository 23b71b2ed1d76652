-- Gives a room back to a store that has lost it or is behind, from what a node knows. Every node may
-- do so; nothing ever goes back, and what is uncertain is counted against letting people in.
-- ARGV   epoch, version, config, control, seed, last_number, serving, opened_at_ms (0 = not yet), draw_n,
--        called_total, tokens_total (all as the node knows them), ms for which the gate stays shut so that
--        every node can add what it alone knows, how many triples follow, those, then pairs of the fields
--        that scripts read and their values
--        a triple: issue time of tokens in ms, end of their lease in ms (0 = it has ended), how many
-- Answers {epoch}
local fresh = not room.epoch
local behind = fresh or number('version') < tonumber(ARGV[2]) or number('last_number') < tonumber(ARGV[6])
  or number('serving') < tonumber(ARGV[7]) or number('tokens_total') < tonumber(ARGV[11])
if not behind then return answer({epoch = number('epoch')}) end

local known_epoch, triples = tonumber(ARGV[1]), tonumber(ARGV[13])
if fresh then
  set('presence_since_ms', now)
  set('recent_since_ms', now)
  set('called_until_ms', now)
end
if fresh or number('version') < tonumber(ARGV[2]) then
  set('version', ARGV[2])
  set('config', ARGV[3])
  set('control', ARGV[4])
  set('seed', ARGV[5])
  redis.call('HSET', ROOM, unpack(ARGV, 14 + 3 * triples))
  redis.call('HSET', ROOM, 'rate_effective', redis.call('HGET', ROOM, 'rate_per_minute'))
end
-- Everybody counts as there until a grace period says otherwise.
local before, last = number('last_number'), tonumber(ARGV[6])
if fresh then redis.call('SET', PRESENT, string.rep('\255', math.floor(last / 8) + 1)) end

-- Tokens whose record is lost count as sessions until they would have ended, and against the rate.
local lost = math.max(0, tonumber(ARGV[11]) - number('tokens_total'))
local times = redis.call('LRANGE', ISSUED, 0, -1)
for t = 0, triples - 1 do
  local issued, ends, count = tonumber(ARGV[14 + 3 * t]), tonumber(ARGV[15 + 3 * t]), tonumber(ARGV[16 + 3 * t])
  for i = 1, count do
    if ends > now then
      local name = 'lost:' .. known_epoch .. ':' .. issued .. ':' .. i
      redis.call('ZADD', SESSIONS, ends, name)
      redis.call('ZADD', LOST, issued, name)
    end
    if issued > now - 60000 then table.insert(times, issued) end
  end
end
table.sort(times, function(a, b) return tonumber(a) < tonumber(b) end)
redis.call('DEL', ISSUED)
for _, issued in ipairs(times) do redis.call('RPUSH', ISSUED, issued) end

local function raise(field, value) set(field, math.max(number(field), tonumber(value))) end
raise('last_number', ARGV[6])
raise('serving', ARGV[7])
raise('called_total', ARGV[10])
raise('tokens_total', ARGV[11])
if tonumber(ARGV[8]) > 0 and not room.opened_at_ms then
  set('opened_at_ms', ARGV[8])
  if tonumber(ARGV[9]) > 0 then set('draw_n', ARGV[9]) end
end
-- A new life of the store, later than any that a ticket may name.
set('epoch', math.max(now, known_epoch + 1, number('epoch') + 1))
set('shut_until_ms', now + tonumber(ARGV[12]))
audit('node', 'restore', 'epoch ' .. known_epoch .. ', numbers up to ' .. before,
  'epoch ' .. number('epoch') .. ', numbers up to ' .. last .. ', tokens lost ' .. lost)
return answer({epoch = number('epoch')})
