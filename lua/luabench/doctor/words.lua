-- What `luabench doctor` has seen, in words. `seen`: what its runs measured ({ late, loopback: hist objects; full: { rate, cpu }; stolen, waited, clock, machine }); `says`: what the
-- system says ({ descriptors, ports, backlog, free, governor, quota }, each nil when it says nothing).
local core = require "luabench.core"
local format = require "luabench.format"

local words = {}

local function quantiles(hist)
  return ("%s median, %s p99, %s at most"):format(format.duration(hist:quantile(0.5)), format.duration(hist:quantile(0.99)), format.duration(hist:max()))
end

local function cores_of(seen, says)
  local text = ("%d of %d, %s"):format(core.cores(), seen.machine.cores, seen.machine.cpu)
  return says.quota and ("%s; the container may use %.3g of them"):format(text, says.quota) or text
end

--- The lines of the report: { name, text }.
function words.lines(seen, says)
  local lines = {}
  local function add(name, text, ...)
    if text then lines[#lines + 1] = { name, select("#", ...) > 0 and text:format(...) or text } end
  end
  add("processors", cores_of(seen, says))
  add("clock", seen.clock)
  add("timers", "late by %s", quantiles(seen.late))
  add("loopback", "there and back in %s", quantiles(seen.loopback))
  add("one thread", "%s against luabench's own target, %s of processor time a request", format.rate(seen.full.rate), format.duration(seen.full.cpu))
  add("descriptors", says.descriptors and "%s, one for each connection", says.descriptors and format.count(says.descriptors))
  add("ports", says.ports and "%s, for connections from one address to one address and port", says.ports and format.count(says.ports))
  add("backlog", says.backlog and "%s at most, for servers on this machine", says.backlog and format.count(says.backlog))
  add("memory", says.free and "%s free", says.free and format.bytes(says.free * 1024))
  return lines
end

local GOOD_CLOCKS = { ["tsc"] = true, ["kvm-clock"] = true, ["arch_sys_counter"] = true }

--- What makes figures of this machine worse than they need to be: a list of sentences.
function words.advice(seen, says)
  local list = {}
  local function add(text, ...) list[#list + 1] = text:format(...) end
  if seen.late:quantile(0.99) > 500e-6 then add("timers are late: what luabench sends in an open run comes late, too, and percentiles below a few milliseconds are the machine's own") end
  if (seen.stolen or 0) > 0.01 then add("the hypervisor took %s of the processor time: figures of this machine change with what its neighbours do", format.share(seen.stolen)) end
  if (seen.waited or 0) > 0.02 then add("other programs run: luabench waited for a processor %s of the time", format.share(seen.waited)) end
  if core.cores() < 2 then add "one processor: a server on this machine and luabench take it from each other" end
  if says.quota and says.quota < core.cores() then add("a container that may use %.3g processors is stopped when it has used them: give luabench whole ones, and -t as many", says.quota) end
  if seen.clock and not GOOD_CLOCKS[seen.clock] then add("the clock %s is slow to read; every request reads it several times", seen.clock) end
  if says.governor and says.governor ~= "performance" then add("the processor's governor is %q: its speed changes during a run; `cpupower frequency-set -g performance` keeps it", says.governor) end
  if says.descriptors and says.descriptors < 10000 then add("%s descriptors are few: `ulimit -n 100000` before a run with many users", format.count(says.descriptors)) end
  if says.backlog and says.backlog < 1024 then add("a backlog of %s: many connections at once to a server on this machine are refused or wait for seconds (net.core.somaxconn)", format.count(says.backlog)) end
  return list
end

--- The whole text.
function words.render(seen, says)
  local out = {}
  for _, line in ipairs(words.lines(seen, says)) do out[#out + 1] = ("%-13s %s"):format(line[1], line[2]) end
  out[#out + 1] = ("\nHalf of what one thread can do is a rate to plan for: -R %s for each of -t."):format(format.count(math.floor(seen.full.rate / 2000) * 1000))
  for i, text in ipairs(words.advice(seen, says)) do out[#out + 1] = (i == 1 and "\n" or "") .. "To mind: " .. text end
  return table.concat(out, "\n") .. "\n"
end

return words
