-- The list of events, which has a key and a slot of its own.
-- KEYS   the set of events
-- ARGV   nothing, or an event to add
-- Answers a list of names
if ARGV[1] then redis.call('SADD', KEYS[1], ARGV[1]) end
local names = redis.call('SMEMBERS', KEYS[1])
if #names == 0 then return '[]' end
return cjson.encode(names)
