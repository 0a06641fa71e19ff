-- Durations, rates, sizes and counts as people write them (script contract, section 2). Every function returns a number, or nil and what is
-- wrong in words that fit behind "`users`: ".
local units = {}

local show = require("luabench.errors").show
local floor, huge = math.floor, math.huge

units.LONGEST = 1e9        -- seconds: 31 years; below what a clock of nanoseconds in 64 bits can hold
units.MOST = 2 ^ 53        -- beyond it doubles skip whole numbers

-- Decimal digits with an optional fraction and exponent. Not tonumber alone, which also takes "nan", "inf" and "0x10".
local function plain_number(text)
  local digits = text:match("^%s*([+-]?%d+%.?%d*[eE]?[+-]?%d*)%s*$") or text:match("^%s*([+-]?%.%d+)%s*$")
  return digits and tonumber(digits)
end

local function finite(number)
  return number == number and number < huge and number > -huge
end

-- A string that is nothing but a number counts as that number: the environment and -p give strings.
local function as_number(value)
  if type(value) == "number" then return value end
  if type(value) == "string" then return plain_number(value) end
end

local function checked(number, value, what, least, most)
  if not finite(number) then return nil, show(value) .. " is not a usable number" end
  if number < least then return nil, ("must be %d or more, not %s"):format(least, show(value)) end
  if number > most then return nil, ("%s is too large for %s; the largest is %s"):format(show(value), what, units.digits(most)) end
  return number
end

--- Any finite number.
function units.number(value)
  local number = as_number(value)
  if not number then return nil, show(value) .. " is not a number" end
  if not finite(number) then return nil, show(value) .. " is not a usable number" end
  return number
end

local SECONDS = { us = 1e-6, ms = 1e-3, s = 1, sec = 1, m = 60, min = 60, h = 3600, d = 86400 }
local DURATION_FORMS = "write 250ms, 30s, 5m, 1h or 1m30s"

local function sum_of_parts(text)
  local total, position = 0, 1
  local smaller_than = huge
  while position <= #text do
    local digits, unit, next_position = text:match("^(%d+%.?%d*)%s*(%a+)%s*()", position)
    local factor = SECONDS[unit]
    if not factor or factor >= smaller_than then return nil end
    total, position, smaller_than = total + tonumber(digits) * factor, next_position, factor
  end
  return position > 1 and total or nil
end

--- Seconds, 0 or more: a number of seconds, or "250ms", "30s", "5m", "1h", "1m30s".
function units.duration(value)
  local number = as_number(value)
  if not number and type(value) == "string" then
    local sign, rest = value:match("^%s*(%-?)(.-)%s*$")
    number = sum_of_parts(rest)
    if number and sign == "-" then number = -number end
    local digits, unit = rest:match("^(%d+%.?%d*)%s*(%a+)$")
    if not number and digits and not SECONDS[unit] then
      return nil, ("%s what? %s is no unit of time; %s"):format(digits, show(unit), DURATION_FORMS)
    end
  end
  if not number then return nil, ("%s is not a duration; %s"):format(show(value), DURATION_FORMS) end
  return checked(number, value, "a duration", 0, units.LONGEST)
end

--- A duration above 0.
function units.positive_duration(value)
  local seconds, why = units.duration(value)
  if seconds == 0 then return nil, "must be more than 0, not " .. show(value) end
  return seconds, why
end

local THOUSANDS = { k = 1e3, K = 1e3, M = 1e6, G = 1e9 }

--- A whole number from `least` (1 unless given): 50, "50", "10k", "5M".
function units.count(value, least)
  local number = as_number(value)
  if not number and type(value) == "string" then
    local digits, factor = value:match("^%s*([+-]?%d+%.?%d*)%s*([kKMG])%s*$")
    number = digits and floor(tonumber(digits) * THOUSANDS[factor] + 0.5)
    if number and number / THOUSANDS[factor] ~= tonumber(digits) then number = tonumber(digits) * THOUSANDS[factor] end
  end
  if not number then return nil, show(value) .. " is not a count; write 50, 10k or 5M" end
  if finite(number) and number ~= floor(number) then return nil, show(value) .. " is not a whole number" end
  return checked(number, value, "a count", least or 1, units.MOST)
end

local PER = { s = 1, sec = 1, m = 60, min = 60, h = 3600 }

--- A rate per second, above 0: 100, "100/s", "600/m", "10k".
function units.rate(value)
  local number = as_number(value)
  if not number and type(value) == "string" then
    local count, unit = value:match("^%s*(.-)%s*/%s*(%a+)%s*$")
    local amount, per = as_number(count) or units.count(count or value), PER[unit or "s"]
    number = amount and per and amount / per
  end
  if not number then return nil, show(value) .. " is not a rate; write 100/s or 600/m" end
  if number == 0 then return nil, "must be more than 0, not " .. show(value) end
  return checked(number, value, "a rate", 0, 1e9)
end

local BYTES = { B = 1, k = 1e3, K = 1e3, M = 1e6, G = 1e9, KB = 1e3, kB = 1e3, MB = 1e6, GB = 1e9, KiB = 1024, MiB = 1024 ^ 2, GiB = 1024 ^ 3 }

--- Bytes: a number, or "64KiB", "5MB"; as of counts, k, M and G alone are thousands.
function units.size(value)
  local number = as_number(value)
  if not number and type(value) == "string" then
    local digits, unit = value:match("^%s*(%d+%.?%d*)%s*(%a+)%s*$")
    number = BYTES[unit] and floor(tonumber(digits) * BYTES[unit] + 0.5)
  end
  if not number then return nil, show(value) .. " is not a size; write 64KiB, 5MB, 5M or a number of bytes" end
  if finite(number) and number ~= floor(number) then return nil, show(value) .. " is not a whole number of bytes" end
  return checked(number, value, "a size", 0, units.MOST)
end

--- A number as it goes into a URL or a header: whole numbers in digits (1700000000000000, never 1.7e+15), others in the fewest digits that
--- read back the same. nil for what is not finite.
function units.digits(number)
  if not finite(number) then return nil end
  if number == floor(number) and number > -1e18 and number < 1e18 then return ("%.0f"):format(number) end
  for precision = 15, 17 do
    local text = ("%." .. precision .. "g"):format(number)
    if tonumber(text) == number then return text end
  end
end

local function round(number, places)
  local text = ("%." .. places .. "f"):format(number)
  if places > 0 then text = text:gsub("0+$", ""):gsub("%.$", "") end
  return text
end

--- A duration for people: "250 ms", "30 s", "1 min 30 s", "2 h".
function units.show_duration(seconds)
  if seconds == 0 then return "0 s" end
  if seconds < 1 then return round(seconds * 1e3, 3) .. " ms" end
  if seconds < 60 then return round(seconds, 3) .. " s" end
  local parts = {}
  local rest = seconds
  for _, unit in ipairs { { 86400, "d" }, { 3600, "h" }, { 60, "min" } } do
    local n = floor(rest / unit[1])
    if n > 0 then parts[#parts + 1] = ("%d %s"):format(n, unit[2]) end
    rest = rest - n * unit[1]
  end
  if rest > 1e-9 then parts[#parts + 1] = round(rest, 3) .. " s" end
  return table.concat(parts, " ")
end

--- A count for people: "1,000,000".
function units.show_count(number)
  local text = ("%.0f"):format(number)
  while true do
    local replaced, times = text:gsub("^(%-?%d+)(%d%d%d)", "%1,%2")
    text = replaced
    if times == 0 then return text end
  end
end

return units
