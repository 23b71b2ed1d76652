-- Gives the lease of a sector back, if it is still this owner's. Safe to run again.
--
-- KEYS[1]  the lease
-- ARGV[1]  owner: the instance
-- returns  whether it was given back

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 'false'
end
redis.call('DEL', KEYS[1])
return 'true'
