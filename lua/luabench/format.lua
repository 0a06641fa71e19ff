-- Figures in words: counts, rates, shares, durations and sizes as people read them. Pure functions, no state.
-- Three significant digits where a figure is measured, every digit where it is counted; what does not exist is "n/a".

local format = {}

local floor, abs = math.floor, math.abs
local NONE = "n/a"

--- True for a number that can be shown: not nil, not NaN, not a JSON null.
local function is_figure(value)
  return type(value) == "number" and value == value
end

local function group_thousands(digits)
  local grouped = digits:reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (grouped:gsub("^,", ""))
end

--- A count with every digit: 1204512 -> "1,204,512".
function format.count(value)
  if not is_figure(value) then return NONE end
  if abs(value) == math.huge then return value > 0 and "infinite" or "-infinite" end
  local sign = value < 0 and "-" or ""
  return sign .. group_thousands(("%.0f"):format(abs(value)))
end

--- Three significant digits without an exponent, larger integers whole: 0.0482, 4.82, 48.2, 482, "4,821".
function format.significant(value)
  if not is_figure(value) then return NONE end
  local size = abs(value)
  if size == 0 then return "0" end
  if size >= 999.5 then return format.count(value) end
  if size >= 99.95 then return ("%.0f"):format(value) end
  if size >= 9.995 then return ("%.1f"):format(value) end
  if size >= 0.9995 then return ("%.2f"):format(value) end
  local decimals = math.min(2 - floor(math.log10(size)), 12)
  return ("%." .. decimals .. "f"):format(value)
end

--- A count for the column of a table: whole below 10^9, then "1.23G".
function format.narrow(value)
  if not is_figure(value) then return NONE end
  for _, unit in ipairs({ { 1e15, "P" }, { 1e12, "T" }, { 1e9, "G" } }) do
    if value >= unit[1] * 0.9995 then return format.significant(value / unit[1]) .. unit[2] end
  end
  return format.count(value)
end

--- A count with its noun: (1, "user") -> "1 user", (50, "user") -> "50 users".
function format.counted(value, noun, plural)
  return format.count(value) .. " " .. (value == 1 and noun or plural or noun .. "s")
end

--- A number a second: "48,211/s".
function format.rate(value)
  if not is_figure(value) then return NONE end
  return format.significant(value) .. "/s"
end

--- A share of 0..1 as a percentage. What is not nothing never reads 0%, what is not all never reads 100%.
function format.share(value)
  if not is_figure(value) then return NONE end
  if value == 0 then return "0%" end
  if value == 1 then return "100%" end
  local percent = value * 100
  if percent > 0 and percent < 0.01 then return "<0.01%" end
  if percent < 100 and percent >= 99.95 then return ">99.9%" end
  if percent > 100 then return format.significant(percent) .. "%" end
  return (percent < 9.995 and "%.2f%%" or "%.1f%%"):format(percent)
end

-- { size of the unit, its name }, large to small
local TIME_UNITS = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "µs" }, { 1e-9, "ns" } }
local SIZE_UNITS = { { 1e15, "PB" }, { 1e12, "TB" }, { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "kB" }, { 1, "B" } }

-- The value in the largest unit in which three digits do not begin with 0: 0.0009996 is 1.00 ms, not 1,000 µs.
local function scale(value, units)
  for i, unit in ipairs(units) do
    local scaled = value / unit[1]
    if abs(scaled) >= 0.9995 or i == #units then return scaled, unit[2] end
  end
end

local function with_unit(value, units, gap)
  local scaled, unit = scale(value, units)
  local whole = floor(scaled + 0.5)
  local counted = unit == "B" or unit == "ns" and abs(scaled - whole) < 1e-6 -- the smallest units come in whole numbers
  return (counted and format.count(whole) or format.significant(scaled)) .. gap .. unit
end

--- A measured duration, given in seconds: "401 µs", "1.21 ms", "83.2 s".
function format.duration(seconds)
  if not is_figure(seconds) then return NONE end
  if seconds == 0 then return "0 s" end
  return with_unit(seconds, TIME_UNITS, " ")
end

--- The same for the narrow columns of a table: "1.21ms".
function format.compact(seconds)
  if not is_figure(seconds) then return NONE end
  if seconds == 0 then return "0s" end
  return (with_unit(seconds, TIME_UNITS, ""):gsub(",", ""))
end

local function plain(value)
  return (("%.3f"):format(value):gsub("%.?0+$", ""))
end

--- A duration that somebody chose, given in seconds: "250 ms", "10 s", "1 min 30 s", "2 h".
function format.span(seconds)
  if not is_figure(seconds) then return NONE end
  if seconds > 0 and seconds < 1 then
    local scaled, unit = scale(seconds, TIME_UNITS)
    return plain(scaled) .. " " .. unit
  end
  if seconds < 60 then return plain(seconds) .. " s" end
  local parts, rest = {}, seconds
  for _, unit in ipairs({ { 3600, "h" }, { 60, "min" } }) do
    local whole = floor(rest / unit[1])
    rest = rest - whole * unit[1]
    if whole > 0 then parts[#parts + 1] = format.count(whole) .. " " .. unit[2] end
  end
  local last = plain(rest)
  if last ~= "0" then parts[#parts + 1] = last .. " s" end
  return table.concat(parts, " ")
end

--- A size in bytes, decimal units: "512 B", "98.4 MB".
function format.bytes(bytes)
  if not is_figure(bytes) then return NONE end
  return with_unit(bytes, SIZE_UNITS, " ")
end

--- The name of a quantile: 0.5 -> "p50", 0.999 -> "p99.9".
function format.percentile(quantile)
  return "p" .. ("%.10f"):format(quantile * 100):gsub("%.?0+$", "")
end

--- A moment (seconds since 1970) as RFC 3339 in UTC, with milliseconds.
function format.timestamp(seconds)
  local whole = floor(seconds)
  local milliseconds = math.min(floor((seconds - whole) * 1000 + 0.5), 999)
  return os.date("!%Y-%m-%dT%H:%M:%S", whole) .. (".%03dZ"):format(milliseconds)
end

--- "a", "a and b", "a, b and c".
function format.list(items)
  if #items < 2 then return items[1] or "" end
  return table.concat(items, ", ", 1, #items - 1) .. " and " .. items[#items]
end

return format
