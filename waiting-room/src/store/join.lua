-- Gives the next queue number; the same person, or the same join sent again, gets the same one.
-- ARGV   identity ('' = none), id of this join ('' = none), access code ('' = none)
-- Answers {outcome = "joined" | "again", number, epoch, iat, priority}
--       | {outcome = "full" | "no_room" | "code_missing" | "code_invalid"} | {outcome = "refused", mode}
local identity, join_id, code = ARGV[1], ARGV[2], ARGV[3]
if not room.epoch then return answer({outcome = 'no_room'}) end
open_if_due()

local function joined(outcome, person)
  return answer({outcome = outcome, number = tonumber(person), epoch = number('epoch'),
    iat = math.floor(now / 1000), priority = redis.call('ZSCORE', PRIORITY, person) ~= false
      or redis.call('ZSCORE', RECALLED, person) ~= false})
end

-- Whoever has a place has it in any mode. A turn that is over is not a place.
local known = identity ~= '' and redis.call('HGET', IDENTITIES, identity)
  or join_id ~= '' and (redis.call('HGET', RECENT, join_id) or redis.call('HGET', RECENT_BEFORE, join_id))
if known and (redis.call('GETBIT', SPENT, known) == 0 or redis.call('HEXISTS', ADMISSIONS, known) == 1) then
  return joined('again', known)
end

local current = mode()
if room.method == 'reject' then current = 'closed' end
if current ~= 'open' and current ~= 'pre_queue' and current ~= 'paused' then
  return answer({outcome = 'refused', mode = current})
end
local length_max = number('queue_length_max')
if length_max > 0 and number('last_number') - number('serving') >= length_max then
  return answer({outcome = 'full'})
end

local priority = false
if code ~= '' then
  local uses, lane = string.match(redis.call('HGET', CODES, code) or '', '^(%d+):(%a+)$')
  if not uses or tonumber(uses) < 1 then return answer({outcome = 'code_invalid'}) end
  redis.call('HSET', CODES, code, (tonumber(uses) - 1) .. ':' .. lane)
  priority = lane == 'priority'
elseif room.invite_only == '1' then
  return answer({outcome = 'code_missing'})
end

local last = redis.call('HINCRBY', ROOM, 'last_number', 1)
set_present(last, 1)
if identity ~= '' then redis.call('HSET', IDENTITIES, identity, last) end
if join_id ~= '' then redis.call('HSET', RECENT, join_id, last) end
if priority then redis.call('ZADD', PRIORITY, last, last) end
return joined('joined', last)
