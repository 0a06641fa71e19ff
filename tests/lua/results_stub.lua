-- Results as the core would hand them over, for tests without the core: hist objects are exact sorted arrays, and `luabench.core` is replaced
-- by a stub that keeps what was written in `stub.written`.

local stub = {}

-- Histograms ----------------------------------------------------------------------------------------------------------

local Hist = {}
Hist.__index = Hist

function Hist:count() return #self.samples end
function Hist:min() return self.samples[1] end
function Hist:max() return self.samples[#self.samples] end

function Hist:mean()
  if #self.samples == 0 then return nil end
  local sum = 0
  for _, sample in ipairs(self.samples) do sum = sum + sample end
  return sum / #self.samples
end

function Hist:stddev()
  if #self.samples == 0 then return nil end
  local mean, sum = self:mean(), 0
  for _, sample in ipairs(self.samples) do sum = sum + (sample - mean) ^ 2 end
  return math.sqrt(sum / #self.samples)
end

function Hist:quantile(quantile)
  local n = #self.samples
  -- nearest rank: the smallest sample with at least quantile * n samples at or below it
  return self.samples[math.max(1, math.ceil(quantile * n - 1e-9))]
end

function Hist:upto(seconds)
  local count = 0
  for _, sample in ipairs(self.samples) do count = count + (sample <= seconds and 1 or 0) end
  return count
end

function Hist:encode()
  return "HISTF" .. #self.samples
end

--- A hist object of these samples (seconds).
function stub.hist(samples)
  local sorted = {}
  for i, sample in ipairs(samples or {}) do sorted[i] = sample end
  table.sort(sorted)
  return setmetatable({ samples = sorted }, Hist)
end

--- first, first + step, ...: `count` samples.
function stub.steps(count, first, step)
  local samples = {}
  for i = 1, count do samples[i] = first + (i - 1) * (step or first) end
  return stub.hist(samples)
end

-- Results -------------------------------------------------------------------------------------------------------------

local function merge(into, from)
  for key, value in pairs(from or {}) do into[key] = value end
  return into
end

--- The figures of a name: `count` succeeded requests whose latencies are 1 ms, 2 ms, ...; fields of `over` win.
function stub.named(name, count, over)
  return merge({
    name = name, started = count, succeeded = count, failed = 0, timed_out = 0, interrupted = 0, retried = 0, redirected = 0, responses = count,
    bytes_sent = count * 100, bytes_received = count * 1000, errors = {}, statuses = count > 0 and { [200] = count } or {},
    latency = stub.steps(count, 0.001), latency_from_intended = stub.hist {}, service = stub.steps(count, 0.0009), wait = stub.steps(count, 0.0008),
    blocked = stub.hist {}, connect = stub.hist {}, tls = stub.hist {},
  }, over)
end

--- A scenario with one name.
function stub.scenario(name, count, over)
  local named = over and over.total or stub.named("GET /", count)
  return merge({
    name = name, users_max = 50, duration = 10,
    iterations = { scheduled = count, completed = count, failed = 0, interrupted = 0, dropped = 0, expired = 0 },
    connections = { opened = 50, reused = math.max(count - 50, 0), closed_by_peer = 0, max_open = 50 },
    iteration_duration = stub.steps(count, 0.001), total = named, names = { named },
  }, over)
end

--- Results of a run with one scenario of `count` requests; fields of `over` win.
function stub.results(count, over)
  local scenario = over and over.scenarios and over.scenarios[1] or stub.scenario("hello", count)
  return merge({
    started = 1767323045.25, duration = 10, interrupted = false,
    machine = { cores = 2, cpu = "Test CPU", memory = 8e9, kernel = "6.1.0", hostname = "testhost" },
    scenarios = { scenario }, total = scenario.total, checks = {}, script_errors = { count = 0, kinds = {} }, failures = { count = 0, texts = {} },
    notices = {}, generator = { cpu = 0.41, cpu_seconds = 8.2, threads = 2, lag = stub.hist { 0.00002, 0.0012 } },
    series = { { time = 1, users = 50, requests = count, errors = 0, latency = stub.steps(count, 0.001) } },
  }, over)
end

--- A plan for one scenario, "hello".
function stub.plan(over)
  return merge({
    script = "examples/hello.lua", color = false, thresholds = {}, outputs = {}, options = { threads = 2 }, progress = "none",
    scenarios = { { name = "hello", model = "closed", users = 50, duration = 10, target = "http://127.0.0.1:8080", version = "1.1" } },
  }, over)
end

-- The core ------------------------------------------------------------------------------------------------------------

local null = setmetatable({}, { __tostring = function() return "null" end })
local Array = {}

local function is_array(value)
  return getmetatable(value) == Array or #value > 0
end

local function quote(text)
  local escapes = { ['"'] = '\\"', ["\\"] = "\\\\" }
  return '"' .. text:gsub('[%c"\\]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end

local function encode(value)
  if value == null then return "null" end
  if type(value) == "string" then return quote(value) end
  if type(value) == "number" then
    assert(value == value and math.abs(value) < math.huge, "JSON has no NaN and no infinity")
    return value == math.floor(value) and ("%.0f"):format(value) or ("%.17g"):format(value)
  end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  if is_array(value) then
    for i, item in ipairs(value) do parts[i] = encode(item) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  local keys = {}
  for key in pairs(value) do
    assert(type(key) == "string", "a key of an object is a string")
    keys[#keys + 1] = key
  end
  table.sort(keys)
  for i, key in ipairs(keys) do parts[i] = quote(key) .. ":" .. encode(value[key]) end
  return "{" .. table.concat(parts, ",") .. "}"
end

--- What was written: fd -> text.
stub.written = {}
--- Columns of the terminals: fd -> columns.
stub.terminals = {}
--- Descriptors that cannot be written: fd -> message.
stub.broken = {}

stub.core = {
  file_kind = function(path)
    local function is(test) return os.execute(("test -%s '%s'"):format(test, path)) == 0 end
    return is "f" and "file" or is "d" and "directory" or is "e" and "other" or nil
  end,
  write_device = function(path, text)
    local file, why = io.open(path, "wb")
    if not file then return nil, why end
    local written, problem = file:write(text)
    local closed, late = file:close()
    if not written or not closed then return nil, path .. ": " .. tostring(problem or late) end
    return true
  end,
  VERSION = "0.1.0",
  json_null = null,
  rows_exhausted = function() return {} end,
  json_array = function(list) return setmetatable(list, Array) end,
  json_pretty = encode,
  terminal = function(fd) return stub.terminals[fd] end,
  write = function(fd, text)
    if stub.broken[fd] then return nil, stub.broken[fd] end
    stub.written[fd] = (stub.written[fd] or "") .. text
    return true
  end,
  hist_merge = function(hists)
    local samples = {}
    for _, hist in ipairs(hists) do
      for _, sample in ipairs(hist.samples) do samples[#samples + 1] = sample end
    end
    return stub.hist(samples)
  end,
  hist_without = function(all, some)
    local samples, at = {}, 1
    for _, sample in ipairs(all.samples) do
      if some.samples[at] == sample then at = at + 1 else samples[#samples + 1] = sample end
    end
    return stub.hist(samples)
  end,
}

--- Puts the stub in the place of luabench.core, forgets our modules that hold another one, and what was written.
function stub.install()
  for name in pairs(package.loaded) do
    if name:match("^luabench") then package.loaded[name] = nil end
  end
  package.loaded["luabench.core"] = stub.core
  stub.written, stub.terminals, stub.broken = {}, {}, {}
  return stub.core
end

return stub
