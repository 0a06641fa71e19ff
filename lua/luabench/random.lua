-- The module `random`: choices of the running user, which a seed repeats. The numbers are the core's; what stands here is choosing, and what is wrong with a call.
local core = require "luabench.core"
local errors = require "luabench.errors"

local random = {}

local show = errors.show
local core_random, core_int = core.random, core.random_int
local type, floor, abs, sort, format = type, math.floor, math.abs, table.sort, string.format

local EXACT = 2 ^ 53

local function is_whole(value)
  return type(value) == "number" and floor(value) == value and abs(value) <= EXACT
end

--- A whole number from a to b, both included.
function random.int(a, b, extra)
  if not is_whole(a) or not is_whole(b) or extra ~= nil then
    errors.script("random.int takes two whole numbers: random.int(1, 6), not (%s, %s)", show(a), show(b))
  end
  if b < a then errors.script("random.int(%s, %s): the smaller number comes first", show(a), show(b)) end
  if b - a >= EXACT then errors.script("random.int(%s, %s): they are too far apart; between them there may be %s at most", show(a), show(b), show(EXACT - 1)) end
  return core_int(a, b)
end

local function sorted_names(weights)
  local names, total = {}, 0
  for name, weight in pairs(weights) do
    if type(name) ~= "string" or type(weight) ~= "number" or not (weight >= 0) or weight == math.huge then
      errors.script("random.pick: the weight of %s must be a number from 0, not %s: random.pick { browse = 70, buy = 30 }", show(name), show(weight))
    end
    names[#names + 1] = name
    total = total + weight
  end
  if #names == 0 then errors.script('random.pick: there is nothing to pick from: random.pick { "a", "b" } or random.pick { browse = 70, buy = 30 }') end
  if total == 0 then errors.script("random.pick: all weights are 0") end
  sort(names)
  return names, total
end

local function pick_weighted(weights)
  local names, total = sorted_names(weights)
  local left = core_random() * total
  for _, name in ipairs(names) do
    left = left - weights[name]
    if left < 0 then return name end
  end
  for i = #names, 1, -1 do -- a rounded sum
    if weights[names[i]] > 0 then return names[i] end
  end
end

--- One of a list, each alike; or one of the names of a table of weights.
function random.pick(list, extra)
  if type(list) ~= "table" or extra ~= nil then errors.script("random.pick takes one table: random.pick(list) or random.pick { browse = 70, buy = 30 }, not %s", show(list)) end
  local count = #list
  if count > 0 then return list[core_int(1, count)] end
  return pick_weighted(list)
end

--- Exponentially distributed with this mean: times between independent events.
function random.exp(mean, extra)
  if type(mean) ~= "number" or not (mean >= 0) or extra ~= nil then errors.script("random.exp takes the mean, a number: random.exp(2.5), not %s", show(mean)) end
  return mean * core.random_exponential()
end

local function text_of(call, make)
  return function(length, extra)
    if not is_whole(length) or length < 0 or length > 2 ^ 26 or extra ~= nil then
      errors.script("%s takes a length: %s(16), not %s", call, call, show(length))
    end
    return make(length)
  end
end

--- So many random letters and digits.
random.string = text_of("random.string", core.random_text)

--- So many random bytes.
random.bytes = text_of("random.bytes", core.random_bytes)

--- A random UUID (RFC 9562, version 4).
function random.uuid(extra)
  if extra ~= nil then errors.script("random.uuid() takes no argument") end
  local b = { core.random_bytes(16):byte(1, 16) }
  b[7], b[9] = b[7] % 16 + 0x40, b[9] % 64 + 0x80
  return format("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", unpack(b))
end

--- random(): uniform, from 0 up to but not including 1.
function random.uniform(extra)
  if extra ~= nil then errors.script("random() takes no argument; random.int(1, 6) gives whole numbers") end
  return core_random()
end

--- Lua's own math.random, from the user's generator.
function random.lua(least, most)
  if least == nil then return core_random() end
  if most == nil then least, most = 1, least end
  if type(least) ~= "number" or type(most) ~= "number" then errors.script("math.random takes numbers, not (%s, %s)", show(least), show(most)) end
  least, most = floor(least), floor(most)
  if not (most >= least) then errors.script("math.random: the interval is empty: (%s, %s)", show(least), show(most)) end
  if not is_whole(least) or not is_whole(most) or most - least >= EXACT then errors.script("math.random(%s, %s): the numbers are too large, or too far apart", show(least), show(most)) end
  return core_int(least, most)
end

return random
