package.path = "lua/?.lua;tests/lua/?.lua;" .. package.path
local stub = require "results_stub"
stub.install()
local core = require "luabench.core"
core.cores = function() return 2 end
local words = require "luabench.doctor.words"

local function same(value)
  local list = {}
  for i = 1, 1000 do list[i] = value end
  return stub.hist(list)
end

-- A machine that nothing is wrong with; fields of `seen` and `says` win.
local function machine(seen, says)
  local good = { late = same(30e-6), loopback = same(40e-6), full = { rate = 80000, cpu = 5e-6 }, clock = "tsc", stolen = 0, waited = 0, machine = { cores = 4, cpu = "A processor" } }
  local kernel = { descriptors = 20000, ports = 28232, backlog = 4096, free = 1e6, governor = "performance" }
  for key, value in pairs(seen or {}) do good[key] = value end
  for key, value in pairs(says or {}) do kernel[key] = value end
  return good, kernel
end

local function text_of(lines)
  local list = {}
  for i, line in ipairs(lines) do list[i] = line[1] .. ": " .. line[2] end
  return table.concat(list, "\n")
end

describe("luabench doctor", function()
  it("says what there is", function()
    local text = text_of(words.lines(machine()))
    for _, part in ipairs { "processors: 2 of 4, A processor\n", "clock: tsc\n", "timers: late by 30.0 µs median, 30.0 µs p99, 30.0 µs at most", "loopback: there and back in 40.0 µs median",
      "one thread: 80,000/s against luabench's own target, 5.00 µs of processor time a request", "descriptors: 20,000,", "ports: 28,232,", "backlog: 4,096 at most", "memory: 1.02 GB free" } do
      assert.truthy(text:find(part, 1, true), part .. " is not in\n" .. text)
    end
  end)

  it("leaves out what the system does not say", function()
    local text = text_of(words.lines(machine(), {}))
    for _, name in ipairs { "descriptors", "ports", "backlog", "memory" } do assert.is_nil(text:find(name, 1, true)) end
  end)

  it("has no advice for a good machine", function() assert.same({}, words.advice(machine())) end)

  for name, case in pairs {
    ["late timers"] = { { late = same(0.6e-3) }, nil, "timers are late" },
    ["steal"] = { { stolen = 0.02 }, nil, "the hypervisor took 2.00% of" },
    ["others"] = { { waited = 0.03 }, nil, "luabench waited for a processor 3.00% of the time" },
    ["a container"] = { nil, { quota = 1.5 }, "a container that may use 1.5 processors" },
    ["a slow clock"] = { { clock = "hpet" }, nil, "the clock hpet is slow" },
    ["a governor"] = { nil, { governor = "powersave" }, 'the processor\'s governor is "powersave"' },
    ["few descriptors"] = { nil, { descriptors = 1024 }, "1,024 descriptors are few" },
    ["a short backlog"] = { nil, { backlog = 128 }, "a backlog of 128:" },
  } do
    it("warns of " .. name, function()
      local advice = words.advice(machine(case[1], case[2]))
      assert.equal(1, #advice)
      assert.truthy(advice[1]:find(case[3], 1, true), advice[1])
    end)
  end
end)
