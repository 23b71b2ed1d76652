-- Sets what the operator wants: open, paused, draining or closed.
-- ARGV   who, the word
-- Answers {changed}, false when there is no such room
if not room.epoch then return answer({changed = false}) end
audit(ARGV[1], 'control', room.control, ARGV[2])
redis.call('HSET', ROOM, 'control', ARGV[2])
redis.call('HINCRBY', ROOM, 'version', 1)
return answer({changed = true})
