-- What one of several machines carries of a load (--share): as the core splits it (base/share.h), for what is said of it.
local shares = {}

local floor = math.floor

--- How many of `whole` belong to the share; nil for no number.
--- @param share { index: integer, count: integer }? nil: everything
function shares.part(share, whole)
  if not share or not whole then return whole end
  return floor(whole / share.count) + (share.index < whole % share.count and 1 or 0)
end

local COUNTS = { "users", "iterations", "min_users", "max_users" }

--- What was planned for a scenario (the fields of docs/core.md), as far as the share carries it; merging the results of all shares gives the whole.
function shares.of(planned, share)
  if not share then return planned end
  local own = setmetatable({}, { __index = planned })
  for _, key in ipairs(COUNTS) do own[key] = shares.part(share, planned[key]) end
  own.rate = planned.rate and planned.rate / share.count
  own.stages = planned.stages and {}
  for i, stage in ipairs(planned.stages or {}) do
    local level = stage.of == "rate" and stage.level / share.count or shares.part(share, stage.level)
    own.stages[i] = { of = stage.of, level = level, over = stage.over, hold = stage.hold }
  end
  return own
end

return shares
