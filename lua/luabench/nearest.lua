-- Which known name was meant: for every message that says "did you mean".
local nearest = {}

local min, floor = math.min, math.floor

--- Edits (insert, delete, replace, swap two neighbours) that turn one string into the other: the Damerau-Levenshtein distance in its
--- restricted form, where no part is edited twice.
function nearest.distance(a, b)
  local before, previous, current = {}, {}, {}
  for j = 0, #b do previous[j] = j end
  for i = 1, #a do
    current[0] = i
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      local best = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        best = min(best, before[j - 2] + 1)
      end
      current[j] = best
    end
    before, previous, current = previous, current, before
  end
  return previous[#b]
end

-- gracefulStop, graceful-stop and GRACEFUL_STOP are one name.
local function plain(name)
  return (name:lower():gsub("[_%-]", ""))
end

--- The known name nearest to `name`, or nil when none is near: at most one edit in three letters. `known`: a list of names, or a table
--- whose keys are the names.
function nearest.name(name, known)
  local best, best_distance
  local wanted = plain(name)
  local limit = math.max(1, floor(#wanted / 3))
  local function try(candidate)
    local distance = nearest.distance(wanted, plain(candidate))
    if distance > limit or distance >= #candidate then return end
    if not best or distance < best_distance or (distance == best_distance and candidate < best) then
      best, best_distance = candidate, distance
    end
  end
  for key, value in pairs(known) do
    if type(key) == "number" then try(value) elseif type(key) == "string" then try(key) end
  end
  return best
end

--- "; did you mean `users`?" or "".
function nearest.hint(name, known)
  local found = type(name) == "string" and nearest.name(name, known)
  return found and "; did you mean `" .. found .. "`?" or ""
end

return nearest
