-- Takes the lease of a sector, or prolongs it. Who cannot have it is noted as waiting, so that the
-- holder hands it over. Safe to run again.
--
-- KEYS[1]  the lease
-- KEYS[2]  who waits for it
-- ARGV[1]  owner: the instance
-- ARGV[2]  time to live, in milliseconds
-- ARGV[3]  for how long the caller counts as waiting, in milliseconds
-- returns  {"acquired": bool, "remaining_ms": what is left of the lease, whoever has it}

local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then
  redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[3])
  return cjson.encode({ acquired = false, remaining_ms = redis.call('PTTL', KEYS[1]) })
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if redis.call('GET', KEYS[2]) == ARGV[1] then
  redis.call('DEL', KEYS[2])
end
return cjson.encode({ acquired = true, remaining_ms = tonumber(ARGV[2]) })
