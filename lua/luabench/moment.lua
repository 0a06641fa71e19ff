-- Moments of time as saved results have them.
local moment = {}

--- "2026-12-01T04:05:06.789Z" as seconds since 1970; nil when it is none. Days by Howard Hinnant's days_from_civil.
function moment.seconds(text)
  local year, month, day, hour, minute, second = text:match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):([%d.]+)Z$")
  if not year then return nil end
  local y = tonumber(month) <= 2 and year - 1 or tonumber(year)
  local era = math.floor(y / 400)
  local of_era = y - era * 400
  local of_year = math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  local days = era * 146097 + of_era * 365 + math.floor(of_era / 4) - math.floor(of_era / 100) + of_year - 719468
  return ((days * 24 + hour) * 60 + minute) * 60 + second
end

return moment
