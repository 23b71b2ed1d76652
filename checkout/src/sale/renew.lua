-- Prolongs the lease of a sector; at the end of a turn, gives it to whoever waits. Safe to run again.
--
-- KEYS[1]  the lease
-- KEYS[2]  who waits for it
-- ARGV[1]  owner: the instance
-- ARGV[2]  time to live, in milliseconds
-- ARGV[3]  '1' at the end of a turn
-- returns  "kept", "handed_over", or "lost" when somebody else has it

local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then
  return '"lost"'
end
local next = redis.call('GET', KEYS[2])
if ARGV[3] == '1' and next and next ~= ARGV[1] then
  redis.call('SET', KEYS[1], next, 'PX', ARGV[2])
  redis.call('DEL', KEYS[2])
  return '"handed_over"'
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return '"kept"'
