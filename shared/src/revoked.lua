-- The tokens revoked since a moment that are not dead yet, a page at a time.
-- KEYS   revoked
-- ARGV   the moment in ms, how many at most
-- Answers {revoked = a list of {jti, left_ms}, left out when empty, up_to_ms = the moment for the next
-- page, more = whether there is one}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local page = redis.call('ZRANGE', KEYS[1], ARGV[1], '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
local revoked = {}
for i = 1, #page, 2 do
  local jti, ends = string.match(page[i], '^(.*):(%d+)$')
  local left = tonumber(ends) - now
  if left > 0 then table.insert(revoked, {jti = jti, left_ms = left}) end
end
return cjson.encode({
  revoked = #revoked > 0 and revoked or nil,
  up_to_ms = tonumber(page[#page] or ARGV[1]),
  more = #page == 2 * ARGV[2],
})
