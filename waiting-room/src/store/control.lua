-- Sets what the operator wants: open, paused, draining or closed.
-- ARGV   the word
-- Answers {changed}, false when there is no such room
if not room.epoch then return answer({changed = false}) end
redis.call('HSET', ROOM, 'control', ARGV[1])
redis.call('HINCRBY', ROOM, 'version', 1)
return answer({changed = true})
