-- Verdicts on comparisons whose figures are known, by luabench's own statistics. A line of standard input is the name of a figure (rate, p50, p99) and, round by round, what two
-- targets had; a line of output is the verdict and the interval of the ratio.
package.path = "lua/?.lua;" .. package.path
local statistics = require "luabench.compare.statistics"
local verdict = require "luabench.compare.verdict"

for line in io.lines() do
  local key, rest = line:match("^(%S+) (.*)$")
  local values, base, other = {}, {}, {}
  for number in rest:gmatch("%S+") do values[#values + 1] = tonumber(number) end
  for i = 1, #values, 2 do base[#base + 1], other[#other + 1] = values[i], values[i + 1] end
  local said = verdict.of(key, { base = "A", other = "B" }, statistics.ratio(base, other))
  io.write(said.kind, " ", said.low, " ", said.high, "\n")
end
