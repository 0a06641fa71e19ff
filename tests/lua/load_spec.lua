-- How much load and when: the keys of both models, what goes together, the options of the command line, and --dry-run.
local stub = require "core_stub"

local core
before_each(function() core = stub.install() end)
after_each(stub.clean)

local RUN = "run = function() end"

local function has(text, part) assert.message(text).truthy(text:find(part, 1, true)) end

local function command(keys, argv)
  return stub.command(core, 'scenario "x" { ' .. keys .. ", " .. RUN .. " }", argv)
end

local function scenario_of(keys, argv)
  local result, err = command(keys, argv)
  assert.message(err).equal("run", result.action)
  return result.scenarios[1]
end

local function refused(keys, argv)
  local result, err = command(keys, argv)
  assert.message(err).same({ "exit", 2 }, { result.action, result.status })
  return err
end

local function levels(stages)
  local list = {}
  for i, stage in ipairs(stages) do list[i] = ("%g/%g/%g"):format(stage.level, stage.over, stage.hold) end
  return table.concat(list, " ")
end

describe("the closed model", function()
  it("has stages of users, whose time is the duration", function()
    local each = scenario_of 'stages = { { users = 10, over = "30s" }, { users = 50, over = 60, hold = "5m" }, { users = 0, over = "10s" } }'
    assert.same({ "closed", 50, 400 }, { each.model, each.users, each.duration })
    assert.equal("10/30/0 50/60/300 0/10/0", levels(each.stages))
    assert.same({}, { each.iterations, each.iterations_per_user, each.rate, each.max_users, each.ramp_up })
  end)
  it("has a ramp_up, a warm_up, new visitors, and functions of a user", function()
    local each = scenario_of 'users = 3, ramp_up = "3s", duration = "9s", warm_up = "1s", fresh = true, on_start = print, on_stop = print, setup = print, teardown = print'
    assert.same({ 3, 3, 9, 1, true }, { each.users, each.ramp_up, each.duration, each.warm_up, each.fresh })
    for _, name in ipairs { "on_start", "on_stop", "setup", "teardown" } do assert.equal("function", type(each[name])) end
  end)
  it("does one iteration for each user when nothing ends it", function() assert.equal(1, scenario_of("users = 3").iterations_per_user) end)
end)

describe("the open model", function()
  it("has a rate, and defaults", function()
    local each = scenario_of 'rate = "600/m", duration = "30s"'
    assert.same({ "open", 10, 30, "constant", 10000, "queue" }, { each.model, each.rate, each.duration, each.arrivals, each.max_users, each.overflow })
    assert.same({}, { each.users, each.min_users, each.ramp_up, each.iterations_per_user, each.stages })
  end)
  it("has stages of rates", function()
    local each = scenario_of 'stages = { { rate = 100, over = "10s", hold = "20s" }, { rate = 0, over = 5 } }, arrivals = "poisson", min_users = 2, max_users = 7, overflow = "drop"'
    assert.same({ "open", 35, "poisson", 2, 7, "drop" }, { each.model, each.duration, each.arrivals, each.min_users, each.max_users, each.overflow })
    assert.equal("100/10/20 0/5/0", levels(each.stages))
  end)
  it("can end by a number", function()
    local each = scenario_of("rate = 5, iterations = 100")
    assert.same({ 100 }, { each.iterations, each.duration })
  end)
end)

describe("the keys of the load", function()
  local wrong = {
    { "rate = 0", "`rate`: must be more than 0" }, { "rate = 'fast'", '`rate`: "fast" is not a rate; write 100/s or 600/m' },
    { "rate = 5", "`rate` needs an end: duration = \"30s\" or iterations = 1000" },
    { "rate = 5, duration = 1, users = 5", "`users` belongs to the closed model, and `rate` is the open one, in which iterations begin whatever the server does; `max_users` limits" },
    { "rate = 5, duration = 1, ramp_up = 1", "`ramp_up` belongs to the closed model" }, { "rate = 5, duration = 1, iterations_per_user = 1", "`iterations` counts all" },
    { "rate = 5, stages = { { rate = 1, hold = 1 } }", "`rate` and `stages` both say how many" },
    { "max_users = 5", "`max_users` belongs to the open model: add `rate`" }, { "overflow = 'drop'", "`overflow` belongs to the open model" },
    { "arrivals = 'poisson'", "`arrivals` belongs to the open model" }, { "min_users = 1, users = 2", "`min_users` belongs to the open model" },
    { "rate = 5, duration = 1, arrivals = 'poison'", '`arrivals`: must be "constant" or "poisson" or "poisson_exact", not "poison"; did you mean `poisson`?' },
    { "rate = 5, duration = 1, overflow = true", '`overflow`: must be "queue" or "drop", not true' },
    { "rate = 5, duration = 1, min_users = 9, max_users = 8", "`min_users` (9) is more than `max_users` (8)" },
    { "rate = 5, duration = 1, max_users = 0", "`max_users`: must be 1 or more" },
    { "stages = 5", "`stages`: must be a list of stages, not 5; write stages = { { users = 50" }, { "stages = { users = 5 }", "must be a list of stages, not one stage" },
    { "stages = {}", "`stages`: is empty" }, { "stages = { 5 }", "stage 1: must be a table, not 5" }, { "stages = { { hold = 5 } }", "stage 1: needs `users` or `rate`, one of the two" },
    { "stages = { { users = 1, rate = 1, hold = 1 } }", "stage 1: needs `users` or `rate`" }, { "stages = { { users = 1, hold = 1 }, { rate = 1, hold = 1 } }", "stage 2 has `rate` and stage 1 `users`" },
    { "stages = { { users = 1 } }", "they take no time; give `over` or `hold`" }, { "stages = { { users = 0, hold = 1 } }", "no stage with more than 0 users" },
    { "stages = { { users = 1.5, hold = 1 } }", "stage 1: `users`: 1.5 is not a whole number" }, { "stages = { { users = -1, hold = 1 } }", "stage 1: `users`: must be 0 or more" },
    { "stages = { { users = 1, over = 'x' } }", "stage 1: `over`: \"x\" is not a duration" }, { "stages = { { users = 1, duration = 5 } }", "stage 1: unknown key `duration`; here it is called `over`" },
    { "stages = { { target = 1, hold = 5 } }", "here it is called `users` or `rate`" }, { "stages = { { users = 1, hodl = 5 } }", "did you mean `hold`?" },
    { "stages = { { users = 1, hold = 5 }, x = 1 }", '"x" is no part of the list' },
    { "stages = { { users = 1, hold = 5 } }, users = 3", "`stages` say how many users there are and when: take `users` away" },
    { "stages = { { users = 1, hold = 5 } }, duration = 3", "`stages` say how long it takes: take `duration` away" },
    { "stages = { { users = 1, hold = 5 } }, ramp_up = 3", "take `ramp_up` away" }, { "stages = { { rate = 1, hold = 5 } }, users = 3", "`users` belongs to the closed model" },
    { "warm_up = 5, duration = 5", "`warm_up` (5 s) leaves nothing of the 5 s" }, { "warm_up = 5, stages = { { users = 1, hold = 4 } }", "`warm_up` (5 s) leaves nothing of the 4 s" },
    { "warm_up = 'auto'", '`warm_up = "auto"` needs a `duration`' }, { "warm_up = -1", "`warm_up`: must be 0 or more" },
    { "fresh = 1", "`fresh`: must be true or false, not 1" }, { "on_start = 'f'", '`on_start`: must be a function, not "f"' }, { "on_stop = 1", "`on_stop`: must be a function" },
    { "setup = {}", "`setup`: must be a function, not a table" }, { "teardown = true", "`teardown`: must be a function, not true" },
    { "iterations = 1, iterations_per_user = 1", "use one of the two" },
    { "arrival_rate = 5", "here it is called `rate`" }, { "startup = print", "here it is called `on_start`" },
  }
  for _, row in ipairs(wrong) do
    it("refuse " .. row[1], function()
      local text = refused(row[1])
      has(text, 'script.lua:1: scenario "x": ')
      has(text, row[2])
    end)
  end
end)

describe("defaults", function()
  local function second(defaults, own)
    local result, err = stub.command(core, "defaults { " .. defaults .. ' }\nscenario "x" { ' .. own .. ", " .. RUN .. " }")
    assert.message(err).equal("run", result.action)
    return result.scenarios[1]
  end
  it("of the other model do not hold", function()
    local each = second('users = 5, duration = "1m", ramp_up = 2', "rate = 10")
    assert.same({ "open", 60 }, { each.model, each.duration })
    assert.equal("closed", second('rate = 5, duration = "1m"', "users = 3").model)
  end)
  it("do not hold beside stages", function()
    assert.equal(4, second('users = 5, duration = "1m"', "stages = { { users = 2, hold = 4 } }").duration)
    assert.equal(9, second("stages = { { users = 2, hold = 4 } }", "users = 2, duration = 9").duration)
  end)
  it("give functions", function() assert.equal("function", type(second("on_start = print, setup = print", "users = 1").setup)) end)
end)

describe("options of the command line", function()
  local CLOSED = "stages = { { users = 10, over = 10, hold = 10 } }"
  local OPEN = "stages = { { rate = 100, over = 10 }, { rate = 50, hold = 20 } }"
  it("-c replaces stages and ramp_up, and keeps how long they were", function()
    local each = scenario_of(CLOSED, { "-c", "3" })
    assert.same({ 3, 20 }, { each.users, each.duration })
    assert.is_nil(each.stages)
    assert.equal(0, scenario_of("users = 9, ramp_up = 5, duration = 9", { "-c", "3" }).ramp_up)
  end)
  it("-n 1 -c 1 makes a smoke test of any script", function()
    for _, keys in ipairs { CLOSED, OPEN, "rate = 5, duration = 9", "users = 9, iterations_per_user = 5", 'users = 9, duration = "1h", warm_up = 5' } do
      local each = scenario_of(keys, { "-n", "1", "-c", "1" })
      assert.same({ "closed", 1, 1 }, { each.model, each.users, each.iterations })
      assert.same({}, { each.duration, each.stages, each.iterations_per_user, each.rate })
    end
  end)
  it("-d cuts stages, or lets the last one go on", function()
    local each = scenario_of(CLOSED, { "-d", "5" })
    assert.same({ 5, "5/5/0" }, { each.duration, levels(each.stages) })
    assert.equal("10/10/50", levels(scenario_of(CLOSED, { "-d", "60" }).stages))
    assert.equal("100/10/0 50/0/15", levels(scenario_of(OPEN, { "-d", "25" }).stages))
  end)
  it("-n lets the last stage go on until so many are done", function()
    local each = scenario_of(OPEN, { "-n", "5000" })
    assert.same({ 5000 }, { each.iterations, each.duration })
    assert.is_true(each.stages[2].hold > 9e9)
  end)
  it("-R makes it open", function()
    local each = scenario_of("users = 9, ramp_up = 5, duration = 30", { "-R", "50" })
    assert.same({ "open", 50, 30, 10000 }, { each.model, each.rate, each.duration, each.max_users })
    each = scenario_of(OPEN, { "-R", "7", "-d", "3", "-c", "20", "--arrivals", "poisson" })
    assert.same({ 7, 3, 20, "poisson" }, { each.rate, each.duration, each.max_users, each.arrivals })
    assert.equal(30, scenario_of(OPEN, { "-R", "7" }).duration)
    assert.equal(600, scenario_of(CLOSED, { "--rps", "600/s" }).rate)
  end)
  it("--stages and --rate-stages ramp", function()
    local each = scenario_of('rate = 5, duration = "1h"', { "--stages", "10/30s,100/5m" })
    assert.same({ "closed", 100, 330, "10/30/0 100/300/0" }, { each.model, each.users, each.duration, levels(each.stages) })
    each = scenario_of("users = 5, iterations = 4", { "--rate-stages", "100/30s,1k/5m" })
    assert.same({ "open", 330, "100/30/0 1000/300/0" }, { each.model, each.duration, levels(each.stages) })
    assert.is_nil(each.iterations)
  end)
  it("--warm-up and --graceful-stop", function()
    local each = scenario_of("users = 5, duration = 10", { "--warm-up", "2s", "--graceful-stop", "1s" })
    assert.same({ 2, 1 }, { each.warm_up, each.graceful_stop })
  end)
  it("work without a script", function()
    local result = require("luabench.main").command({ "http://h/", "-R", "100" }, "control")
    assert.same({ "open", 100, 10 }, { result.scenarios[1].model, result.scenarios[1].rate, result.scenarios[1].duration })
    result = require("luabench.main").command({ "http://h/", "--stages", "5/2s" }, "control")
    assert.same({ "closed", 5, 2 }, { result.scenarios[1].model, result.scenarios[1].users, result.scenarios[1].duration })
  end)
  local wrong = {
    { { "-R", "0" }, "-R: must be more than 0" }, { { "-R", "x" }, '-R: "x" is not a rate; write 100/s or 600/m' }, { { "-R", "5" }, "-R needs an end" },
    { { "--arrivals", "poisson" }, "--arrivals belongs to the open model" }, { { "--arrivals", "often" }, '--arrivals: must be "constant"' },
    { { "--stages", "5" }, '--stages: "5" is not LEVEL/TIME; write 10/30s,100/5m' }, { { "--stages", "x/5" }, '"x" is not a count' }, { { "--stages", "5/x" }, '"x" is not a duration' },
    { { "--stages", "5/5", "-c", "5" }, "--stages and -c contradict each other" }, { { "--stages", "5/5", "-d", "5" }, "--stages and -d contradict" },
    { { "--stages", "5/5", "-R", "5" }, "--stages and -R contradict" }, { { "--rate-stages", "5/5", "-R", "5" }, "--rate-stages and -R contradict" },
    { { "-R", "5", "--ramp-up", "5" }, "--ramp-up and -R contradict" }, { { "--warm-up", "9", "-d", "5" }, "--warm-up (9 s) leaves nothing" },
  }
  for _, row in ipairs(wrong) do
    it("refuse " .. table.concat(row[1], " "), function() has(refused("users = 5", row[1]), row[2]) end)
  end
  it("are for one scenario", function()
    local text = 'scenario "a" { ' .. RUN .. ' }\nscenario "b" { ' .. RUN .. " }"
    for _, argv in ipairs { { "-R", "5" }, { "--stages", "1/1" }, { "--rate-stages", "1/1" }, { "--warm-up", "1" } } do
      local result, err = stub.command(core, text, argv)
      assert.equal(2, result.status)
      has(err, argv[1] .. " changes the load of one scenario, and there are 2")
    end
    assert.equal("open", stub.command(core, text, { "-R", "5", "-d", "1", "--only", "b" }).scenarios[1].model)
  end)
end)

describe("--dry-run", function()
  local function described(keys, argv)
    local words = { "--dry-run" }
    for _, word in ipairs(argv or {}) do words[#words + 1] = word end
    local result, _, out = command(keys, words)
    assert.equal(0, result.status)
    return out
  end
  it("shows stages of users", function()
    local out = described 'start_after = 5, stages = { { users = 10, over = "30s", hold = "1m" }, { users = 1, hold = 10 } }, setup = print, on_stop = print, fresh = true'
    has(out, "up to 10 users, for 1 min 40 s\n      from 5 s: to 10 users over 30 s, then 10 users for 1 min\n      from 1 min 35 s: 1 user for 10 s\n")
    has(out, "begins after 5 s; each iteration is a new visitor")
    has(out, "with setup, on_stop")
    has(out, "All of it takes 1 min 45 s")
  end)
  it("shows rates and how many iterations they make", function()
    local out = described 'rate = 250, duration = "10s", warm_up = 1, max_users = 40, min_users = 4, overflow = "drop", arrivals = "poisson"'
    has(out, "open model: 250/s, for 10 s, at random (Poisson)\n    from 4 up to 40 users at a time; an arrival that finds none free is dropped\n    about 2,500 iterations in all; the first 1 s are a warm-up")
    has(described 'stages = { { rate = 100, over = 10 }, { rate = 50, over = 10, hold = 10 } }', "about 1,750 iterations in all")
  end)
  it("shows stages that go on for ever", function()
    has(described("stages = { { rate = 100, hold = 10 } }", { "-n", "5" }), "from 0 s: 100/s to the end")
  end)
end)
