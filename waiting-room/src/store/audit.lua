-- The last changes, newest first.
-- ARGV   how many
-- Answers a list of {id, at_ms, who, what, before, after}
local entries = redis.call('XREVRANGE', AUDIT, '+', '-', 'COUNT', ARGV[1])
if #entries == 0 then return '[]' end
local list = {}
for _, entry in ipairs(entries) do
  local change = {id = entry[1]}
  for i = 1, #entry[2], 2 do change[entry[2][i]] = entry[2][i + 1] end
  change.at_ms = tonumber(change.at_ms)
  table.insert(list, change)
end
return answer(list)
