-- When several saved runs took place. Runs that overlap for more than half of the shorter one were shares of one load: they ran at the same time, and their rates
-- add. Others ran one after the other: their times add.
local moment = require "luabench.moment"
local summary = require "luabench.summary"

local times = {}

local OVERLAP = 0.5

local function span(document)
  local from = moment.seconds(document.started) or 0
  return from, from + (summary.value(document.duration) or 0)
end

-- Whether the run belongs to those that lasted from `from` to `to`.
local function together(from, to, document)
  local begun, ended = span(document)
  local shorter = math.min(to - from, ended - begun)
  return math.min(to, ended) - math.max(from, begun) > OVERLAP * shorter
end

--- The documents as a list of groups, in order of time; those of a group ran at the same time.
function times.groups(documents)
  local sorted = {}
  for i, document in ipairs(documents) do sorted[i] = { document = document, place = i } end
  table.sort(sorted, function(a, b)
    if a.document.started ~= b.document.started then return a.document.started < b.document.started end
    return a.place < b.place
  end)
  local groups, from, to = {}, nil, nil
  for _, entry in ipairs(sorted) do
    local document = entry.document
    if from and together(from, to, document) then
      table.insert(groups[#groups], document)
      to = math.max(to, select(2, span(document)))
    else
      groups[#groups + 1] = { document }
      from, to = span(document)
    end
  end
  return groups
end

return times
