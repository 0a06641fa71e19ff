-- A queue with one server, on a simulated clock: its sojourn times, and the hist and timeline objects that luabench would have made of them.
local queue = {}

--- Arrivals of rate `rate`, service times of mean 1 / `service`, both exponential: an M/M/1 queue in its steady state, `count` of them. The sojourn time is exponential with
--- rate service - rate. Returns lists of arrival times and of sojourn times.
function queue.mm1(rate, service, count, random)
  local log, arrivals, times = math.log, {}, {}
  local now = 0
  local left = -log(1 - random()) / (service - rate) -- the virtual sojourn of the one before: the steady state from the beginning
  for i = 1, count do
    local gap = -log(1 - random()) / rate
    now = now + gap
    local wait = math.max(left - gap, 0)
    left = wait - log(1 - random()) / service
    arrivals[i], times[i] = now, left
  end
  return arrivals, times
end

local Hist = {}
Hist.__index = Hist
function Hist:count() return #self.sorted end
function Hist:quantile(q) return self.sorted[math.max(1, math.ceil(q * #self.sorted - 1e-9))] end

local Timeline = {}
Timeline.__index = Timeline
function Timeline:size() return #self.slots, self.width end

function Timeline:responses(first, last)
  local sum = 0
  for i = first, last do sum = sum + #self.slots[i] end
  return sum
end

function Timeline:upto(first, last, value)
  local sum = 0
  for i = first, last do
    local slot = self.slots[i]
    for k = 1, #slot do
      if slot[k] <= value then sum = sum + 1 end
    end
  end
  return sum
end

function Timeline:quantile(first, last, q)
  local all = {}
  for i = first, last do
    for _, value in ipairs(self.slots[i]) do all[#all + 1] = value end
  end
  table.sort(all)
  return all[math.max(1, math.ceil(q * #all - 1e-9))]
end

--- hist and timeline objects of latencies that began at `arrivals` (seconds), `slots` slots over `duration`.
function queue.figures(arrivals, times, duration, slots)
  local timeline = setmetatable({ width = duration / slots, slots = {} }, Timeline)
  for i = 1, slots do timeline.slots[i] = {} end
  local sorted = {}
  for i, at in ipairs(arrivals) do
    local slot = timeline.slots[math.min(math.floor(at / timeline.width) + 1, slots)]
    slot[#slot + 1] = times[i]
    sorted[i] = times[i]
  end
  table.sort(sorted)
  return setmetatable({ sorted = sorted }, Hist), timeline
end

return queue
