-- Takes the lease of a sector, or prolongs it. Safe to run again.
--
-- KEYS[1]  the lease
-- ARGV[1]  owner: the instance
-- ARGV[2]  time to live, in milliseconds
-- returns  {"acquired": bool, "remaining_ms": what is left of the lease, whoever has it}

local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then
  return cjson.encode({ acquired = false, remaining_ms = redis.call('PTTL', KEYS[1]) })
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return cjson.encode({ acquired = true, remaining_ms = tonumber(ARGV[2]) })
