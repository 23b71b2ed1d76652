-- Notes who is here, many at once.
-- ARGV   pairs of queue number and rank
-- Answers {noted}
local noted = 0
for i = 1, #ARGV, 2 do
  local person, rank = ARGV[i], tonumber(ARGV[i + 1])
  if tonumber(person) <= number('last_number') and redis.call('GETBIT', SPENT, person) == 0 then
    set_present(rank, 1)
    noted = noted + 1
  end
end
return answer({noted = noted})
