-- Gives the next queue number.
-- Answers {outcome = "joined", number, epoch, iat} | {outcome = "full"} | {outcome = "refused", mode}
--       | {outcome = "no_room"}
if not room.epoch then return answer({outcome = 'no_room'}) end

local current = mode()
if current == 'closed' or current == 'draining' then
  return answer({outcome = 'refused', mode = current})
end
local length_max = number('queue_length_max')
if length_max > 0 and number('last_number') - number('serving') >= length_max then
  return answer({outcome = 'full'})
end

local last = redis.call('HINCRBY', ROOM, 'last_number', 1)
set_present(last, 1)
return answer({outcome = 'joined', number = last, epoch = number('epoch'), iat = math.floor(now / 1000)})
