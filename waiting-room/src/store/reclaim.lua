-- Takes in a ticket whose number the store does not know of: the store is younger than the ticket.
-- ARGV   queue number, rank
-- Answers {last_number}
local person, rank = tonumber(ARGV[1]), tonumber(ARGV[2])
if person > number('last_number') then
  set('last_number', person)
  set_present(rank, 1)
end
return answer({last_number = number('last_number')})
