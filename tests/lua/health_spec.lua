package.path = "lua/?.lua;tests/lua/?.lua;" .. package.path
local stub = require "results_stub"
stub.install()
local health = require "luabench.health"

-- `count` latencies of `value` seconds.
local function same(count, value)
  local list = {}
  for i = 1, count do list[i] = value end
  return stub.hist(list)
end

-- A quiet open run of 4,000 requests that took 1 ms each, 30 us of it luabench's own; fields of `over` win.
local function judge(over)
  local facts = { open = true, latency = same(4000, 0.001), slip = same(4000, 20e-6), cpu = 0.1, seconds = 20, busy_seconds = 0, full_seconds = 0, busiest = 0.2, waited = 0.001,
    stolen = 0, machine = 0.3, retransmits = 0, clocksource = "tsc", requests = 4000, rate = 400, stalls = {}, places = {}, away = same(4000, 20e-6) }
  local net = over.net or same(4000, 0.00097)
  for key, value in pairs(over) do facts[key] = value end
  facts.bias = health.bias(facts.latency, net)
  local found = health.judge(facts)
  return found, table.concat(found.warnings, "\n")
end

local function has(text, part) assert.truthy(text:find(part, 1, true), ("%q is not in %q"):format(part, text)) end

describe("the self-check", function()
  it("has nothing to say of a quiet run", function()
    local found = judge {}
    assert.same({}, found.warnings)
    assert.is_true(found.valid)
    assert.same({}, found.marked)
  end)

  it("bounds what luabench can have added to a quantile", function()
    local bias = health.bias(same(4000, 0.005), same(4000, 0.004))
    for _, field in ipairs { "median", "p90", "p95", "p99", "p999" } do assert.near(0.001, bias[field], 1e-12) end
    assert.same({ "median" }, (function() local list = {} for field in pairs(health.bias(same(10, 1), same(10, 1))) do list[#list + 1] = field end return list end)())
    assert.same({}, health.bias(same(10, 1), same(9, 1)))
  end)

  it("warns of a bias of more than 5%, and distrusts one of more than 20%", function()
    local found, text = judge { latency = same(4000, 0.004), net = same(4000, 0.0036) } -- 10%, 400 us
    has(text, "up to 400 µs of the median of 4.00 ms may be luabench's own delay")
    assert.is_true(found.valid)
    found = judge { latency = same(4000, 0.004), net = same(4000, 0.003) } -- 25%, 1 ms
    assert.is_false(found.valid)
    assert.same({ median = true, p90 = true, p95 = true }, found.marked) -- at p99 2 ms would be needed
    assert.same({}, judge({ latency = same(4000, 0.0002), net = same(4000, 0.00002) }).warnings) -- 90%, but 180 us
    assert.same({}, judge({ latency = same(4000, 0.1), net = same(4000, 0.096) }).warnings) -- 4 ms, but 4%
  end)

  it("only marks p99.9", function()
    local latencies, net = {}, {}
    for i = 1, 4000 do latencies[i], net[i] = i > 3995 and 0.1 or 0.001, i > 3995 and 0.01 or 0.001 end
    local found = judge { latency = stub.hist(latencies), net = stub.hist(net) }
    assert.is_true(found.valid)
    assert.same({ p999 = true }, found.marked)
  end)

  it("names the causes of stalls, those of several threads once", function()
    local stall = { time = 2.04, length = 0.3, cause = "stopped" }
    local _, text = judge { stalls = { stall, { time = 2.041, length = 0.299, cause = "stopped" }, { time = 5, length = 0.05, cause = "computing" }, { time = 7, length = 0.02, cause = "waiting" } },
      places = { { where = "a.lua:7, in function 'f'", seen = 1 } } }
    has(text, "luabench did not look at its sockets and timers for 300 ms at 2 s: the whole process stood still")
    assert.equal(1, select(2, text:gsub("stood still", "")))
    has(text, "for 50.0 ms at 5 s: it was computing itself, in Lua: a.lua:7, in function 'f'")
    has(text, "for 20.0 ms at 7 s: it had to wait for a core")
    _, text = judge { places = { { where = "a.lua:7, in function 'f'", seen = 1 } } }
    has(text, "a Lua function was met that had computed for more than 2 ms: a.lua:7, in function 'f'; whatever")
    local many = {}
    for i = 1, 10 do many[i] = { time = i, length = i / 100, cause = "unknown" } end
    _, text = judge { stalls = many }
    has(text, "10 times, for 100 ms at most")
  end)

  it("distrusts a run in which a fifth of what lies beyond a quantile was late", function()
    local slips = {}
    for i = 1, 4000 do slips[i] = i <= 8 and 0.1 or 20e-6 end -- 0.2%, as much as p99 bears
    assert.is_true(judge({ slip = stub.hist(slips) }).valid)
    for i = 1, 9 do slips[i] = 0.1 end
    local found, text = judge { slip = stub.hist(slips) }
    assert.is_false(found.valid)
    has(text, "of the arrivals were started more than 10 ms late")
  end)

  it("knows what the kernel says", function()
    for _, case in ipairs {
      { "waited", 0.03, 0.2, "had to wait for a core" }, { "stolen", 0.02, 0.1, "the hypervisor took" }, { "machine", 0.95, nil, "the processors of this machine were busy" },
    } do
      local found, text = judge { [case[1]] = case[2] }
      has(text, case[4])
      assert.is_true(found.valid)
      if case[3] then assert.is_false(judge({ [case[1]] = case[3] }).valid) end
    end
    has(select(2, judge { retransmits = 20 }), "20 TCP segments were sent again")
    has(select(2, judge { clocksource = "hpet" }), "the kernel's clock is hpet")
    has(select(2, judge { busy_seconds = 1, busiest = 0.8 }), "near its limit")
    assert.is_false(judge({ full_seconds = 2 }).valid)
    local found, text = judge { errors = { no_ports = 3 } }
    has(text, "ran out of local ports (more: sysctl net.ipv4.ip_local_port_range, or several --source-address): 3 requests failed by it")
    assert.is_false(found.valid)
    has(select(2, judge { slip = same(4000, 0.002) }), "arrivals were started late: p99 2.00 ms, with one due every 2.50 ms")
  end)

  it("does not distrust a closed run", function()
    local found, text = judge { open = false, slip = nil, cpu = 0.97, latency = same(4000, 0.002), net = same(4000, 0.001), stalls = { { time = 1, length = 1, cause = "stopped" } } }
    assert.is_true(found.valid)
    has(text, "luabench itself was busy 97%: throughput is a lower bound, latency an upper one")
  end)
end)
