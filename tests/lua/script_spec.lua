-- From a script's text to the plan or the message: luabench.main.command in the control state.
local stub = require "core_stub"

local core
before_each(function() core = stub.install() end)
after_each(stub.clean)

local RUN = "run = function() end"

-- The message for a script that must be refused.
local function refused(text, argv)
  local command, err = stub.command(core, text, argv)
  assert.equal("exit", command.action)
  assert.message(err).equal(2, command.status)
  assert.equal("luabench: ", err:sub(1, 10))
  return err:sub(11)
end

local function plan_of(text, argv)
  local command, err = stub.command(core, text, argv)
  assert.message(err).equal("run", command.action)
  return command
end

local function has(text, part)
  assert.message(text).truthy(text:find(part, 1, true))
end

describe("a script's scenario", function()
  it("becomes plain numbers with all defaults", function()
    local plan = plan_of('scenario "x" { target = "http://h:1/", users = "10k", duration = "1m30s", ' .. RUN .. " }")
    local each = plan.scenarios[1]
    assert.same({ "x", "closed", 10000, 90, "http://h:1", 0, 0, 30 },
      { each.name, each.model, each.users, each.duration, each.target, each.ramp_up, each.start_after, each.graceful_stop })
    assert.is_nil(each.iterations)
    assert.is_nil(each.iterations_per_user)
    assert.equal("function", type(each.run))
    assert.truthy(each.where:find(":1$"))
    assert.same({ timeout = 30, connect_timeout = 10, max_body = 67108864, decode = true, discard_bodies = false, cookies = true, redirects = 0, keep_alive = true, retry = true, lenient = false, requests_per_connection = 0, connections_per_user = 6, pipeline = 1,
      version = "auto", insecure = false, resume = true, tls = false },
      each.http)
    assert.same({ 10, 10, "lines", "run" }, { plan.script_timeout, plan.interval, plan.progress, plan.action })
  end)

  it("does one iteration for each user when nothing ends it", function()
    local each = plan_of('scenario "x" { users = 3, ' .. RUN .. " }").scenarios[1]
    assert.equal(1, each.iterations_per_user)
  end)

  it("can be written with parentheses, and there can be several", function()
    local plan = plan_of('scenario("a", { ' .. RUN .. ' })\nscenario "b" { ' .. RUN .. " }")
    assert.same({ "a", "b" }, { plan.scenarios[1].name, plan.scenarios[2].name })
    assert.truthy(plan.scenarios[2].where:find(":2$"))
  end)

  it("takes defaults from `defaults`, wherever it stands; http and headers merge", function()
    local plan = plan_of('scenario "a" { users = 5, http = { timeout = 1, headers = { A = "own" } }, ' .. RUN .. ' }\n' ..
      'defaults { users = 7, duration = 9, http = { connect_timeout = 2, headers = { a = "default", B = "b" } } }\nscenario "b" { ' .. RUN .. " }")
    local a, b = plan.scenarios[1], plan.scenarios[2]
    assert.same({ 5, 9, 1, 2 }, { a.users, a.duration, a.http.timeout, a.http.connect_timeout })
    assert.same({ 7, 9, 30, 2 }, { b.users, b.duration, b.http.timeout, b.http.connect_timeout })
    assert.same({ a = { "A", "own" }, b = { "B", "b" } }, a.headers)
  end)

  local wrong = {
    { "{ durration = 5, RUN }", 'script.lua:1: scenario "x": unknown key `durration`; did you mean `duration`?' },
    { "{ timeout = 5, RUN }", "it belongs into the `http` table: http = { timeout = ... }" },
    { "{ headers = {}, RUN }", "http = { headers = ... }" },
    { "{ body = 'x', RUN }", "it belongs to a request" },
    { "{ http = { users = 1 }, RUN }", "http: unknown key `users`; it belongs to the scenario" },
    { "{ vus = 5, RUN }", "here it is called `users`" },
    { "{ requests = 5, RUN }", "here it is called `iterations`" },
    { "{ connections = 50, RUN }", "50 are more than there are users (1); did you mean `users = 50`?" },
    { "{ rps = 5, RUN }", "here it is called `rate`" },
    { "{ exec = 'f', RUN }", "here it is called `run`" },
    { "{ base_url = 'x', RUN }", "here it is called `target`" },
    { "{ think_time = 5, RUN }", "sleep(1)" },
    { "{ tags = { 'x' }, RUN }", '`tags`: tags are names and texts: { page = "cart" }, not 1 = "x"' },
    { "{ tags = { page = {} }, RUN }", '`tags`: tags are names and texts: { page = "cart" }, not "page" = a table' },
    { "{ tags = { name = 'x' }, RUN }", "`tags`: `name` is no tag: figures have it by themselves" },
    { "{ http = { redirects = true }, RUN }", "http: `redirects`: how many? write redirects = 10" },
    { "{ http = { redirects = -1 }, RUN }", "http: `redirects`: must be 0 or more, not -1" },
    { "{ http = { cookies = 1 }, RUN }", "http: `cookies`: must be true or false, not 1" },
    { "{ http = { decode = 'gzip' }, RUN }", "http: `decode`: must be true or false, not \"gzip\"" },
    { "{ http = { discard_bodies = {} }, RUN }", "http: `discard_bodies`: must be true or false, not a table" },
    { "{ http = { auth = 'me' }, RUN }", "http: `auth`: must be a table, not \"me\"; write auth = { user, password } or { bearer = token }" },
    { "{ http = { auth = { bearer = '' } }, RUN }", "http: `auth`: the token is empty; was it read from where it should be?" },
    { "{ http = { auth = { 'a', 'b' }, headers = { authorization = 'c' } }, RUN }", "http: `auth` and the header Authorization: use one" },
    { "{ http = { follow_redirects = true }, RUN }", "here it is called `redirects`" },
    { "{ http = 5, RUN }", "`http` must be a table, not 5" },
    { "{ users = 0, RUN }", "`users`: must be 1 or more, not 0" },
    { "{ users = 1e9, RUN }", "`users`: 1000000000 is more than 10,000,000" },
    { "{ users = 'many', RUN }", '`users`: "many" is not a count' },
    { "{ users = 1e400, RUN }", "`users`: inf is not a usable number" },
    { "{ duration = 0, RUN }", "`duration`: must be more than 0" },
    { "{ duration = 0/0, RUN }", "`duration`: nan is not a usable number" },
    { "{ ramp_up = -1, RUN }", "`ramp_up`: must be 0 or more" },
    { "{ http = { timeout = '1x' }, RUN }", "http: `timeout`: 1 what?" },
    { "{ http = { keep_alive = 'no' }, RUN }", 'http: `keep_alive`: must be true or false, not "no"' },
    { "{ http = { headers = { ['A B'] = 1 } }, RUN }", '"A B" is not a header name' },
    { "{ http = { headers = { A = 'x\\ny' } }, RUN }", "contains a line break" },
    { "{ target = '127.0.0.1:80', RUN }", 'write "http://127.0.0.1:80"' },
    { "{ target = 'http://h/?q', RUN }", "no query" },
    { "{ 5, RUN }", "5 stands without a key" },
    { "{ iterations = 1, iterations_per_user = 1, RUN }", "use one of the two" },
    { "{ run = 'f' }", '`run`: must be a function, not "f"' },
    { "{}", "`run` is missing" },
    { "", "has no table behind its name" },
  }
  for _, row in ipairs(wrong) do
    it("refuses " .. row[1], function() has(refused('scenario "x" ' .. row[1]:gsub("RUN", RUN)), row[2]) end)
  end

  it("refuses two of the same name, no name, a wrong name", function()
    has(refused('scenario "x" { ' .. RUN .. ' }\nscenario "x" { ' .. RUN .. " }"), 'script.lua:2: there are two scenarios "x"; the first is at script.lua:1')
    has(refused("scenario { " .. RUN .. " }"), "needs a name before its table")
    has(refused('scenario(5, {})'), "must be a text, not 5")
    has(refused('scenario "" {}'), "must be a line of text")
    has(refused('scenario("x", {}, 1)'), "one table")
    has(refused('scenario "x" { ' .. RUN .. " }\ndefaults {}\ndefaults {}"), "script.lua:3: defaults is used twice")
  end)
end)

describe("loading", function()
  it("shows the smallest script when there is no scenario", function()
    local text = refused("local x = 1")
    has(text, "script.lua defines no scenario")
    has(text, 'scenario "hello" {')
  end)
  it("refuses traffic while loading", function()
    for _, call in ipairs { 'http.get("/")', 'http.post("/", {})', 'http.request { url = "/" }', "sleep(1)", "pace(1)", 'fail("x")', "stop_user()" } do
      local text = refused(call)
      has(text, "script.lua:1: ")
      has(text, "is called while the script is loaded")
      has(text, 'scenario "hello" {')
    end
  end)
  it("names the line of a syntax error", function() has(refused("local a = 1\nlocal b = = 2"), "script.lua:2: unexpected symbol near '='") end)
  it("shows an error with its calls, without our own", function()
    local text = refused("local function f() local t; t.x = 1 end\nlocal function g() f() end\ng()")
    has(text, "script.lua:1: attempt to index local 't'")
    has(text, "script.lua:2: in function 'g'")
    has(text, "script.lua:3: in main chunk")
    assert.is_nil(text:find("luabench/", 1, true))
  end)
  it("shows errors that are no texts", function()
    has(refused("error({})"), "an error that is a table was raised")
    has(refused("error(setmetatable({}, { __tostring = function() return 'mine' end }))"), "mine")
  end)
  it("says why a file cannot be read", function()
    local command = require("luabench.main").command({ "no/such.lua" }, "control")
    assert.equal(2, command.status)
    has(core.written[2], "cannot read the script no/such.lua: No such file or directory")
    core.written[2] = ""
    require("luabench.main").command({ "tests" }, "control")
    has(core.written[2], "tests is a folder")
  end)
  it("takes text alone, never bytecode", function()
    has(refused(string.dump(loadstring("return 1"))), "is compiled Lua")
    for _, bytes in ipairs { "\127ELF\2\1\1\0", "\31\139\8\0", "\255\254s\0c\0", "MZ\144\0\3", "x\1y" } do
      has(refused(bytes), "is not a text file")
    end
    has(refused("local = 1"), "'<name>' expected near '='")
  end)
  it("takes a shebang, a byte order mark and CRLF", function()
    plan_of("#!/usr/bin/env luabench\n" .. 'scenario "x" { ' .. RUN .. " }")
    plan_of("\239\187\191" .. 'scenario "x" { ' .. RUN .. " }")
    plan_of('scenario "x" {\r\n' .. RUN .. "\r\n}\r\n")
  end)
  it("gives what follows -- to the script", function()
    local plan = plan_of('local a, b = ...\nscenario(a .. b, { ' .. RUN .. " })", { "--", "-c", "two" })
    assert.equal("-ctwo", plan.scenarios[1].name)
  end)
  it("prints once: in the control state, to standard error", function()
    local text = 'print("hi", 1, nil)\nscenario "x" { ' .. RUN .. " }"
    local _, err, out = stub.command(core, text)
    assert.equal("hi    1    nil\n", err)
    assert.equal("", out)
    _, err = stub.command(core, text, {}, "worker")
    assert.equal("", err)
  end)
  it("tells the core of a worker in text, without printing", function()
    local command, err = stub.command(core, "x = = 1", {}, "worker")
    assert.equal("", err)
    assert.equal(2, command.status)
    has(command.text, "unexpected symbol")
  end)
  it("keeps the traceback of an error of ours", function()
    require("luabench.plan").make = function() error("our own bug") end
    local command, err = stub.command(core, 'scenario "x" { ' .. RUN .. " }")
    assert.equal(70, command.status)
    has(err, "internal error: ")
    has(err, "our own bug")
    has(err, "stack traceback:")
  end)
end)

describe("globals", function()
  it("that are not defined are errors with the nearest name", function()
    has(refused('chek("x", true)'), "script.lua:1: `chek` is not defined; did you mean `check`?")
    has(refused("local x = y"), "`y` is not defined")
    has(refused("local f = package"), "`package` is not available to scripts")
  end)
  it("are checked everywhere before anything runs", function()
    has(refused('local function never()\n  return function() chek("x", true) end\nend\nerror("not reached")'), "script.lua:2: `chek` is not defined; did you mean `check`?")
    has(refused('error("not reached")\nlocal function never() count = 1 end'), "script.lua:2: `count` is assigned without `local`")
    has(refused('scenario "x" { run = function()\n  user.vars.a = 1 end }'), "script.lua:2: `user` is not defined")
    plan_of('local a, b = 1LL, { 1, 2, x = {} }\nlocal function f(...) local check = check return a, b, ... end\nscenario "x" { ' .. RUN .. " }")
  end)
  it("cannot be assigned, nor their fields", function()
    has(refused("count = 5"), "`count` is assigned without `local`; write local count = ...")
    has(refused("function f() end"), "write local function f(...)")
    has(refused("http = 5"), "`http` cannot be assigned: it belongs to luabench")
    has(refused("pairs = 5"), "`pairs` cannot be assigned: it belongs to Lua")
    has(refused("http.get = 5"), "http.get cannot be assigned")
    has(refused("string.rep = 5"), "string.rep cannot be assigned")
    has(refused("spawn = 5"), "`spawn` cannot be assigned")
    has(refused("http.gett('/')"), "http has no function `gett`; did you mean `get`?")
    has(refused("group('x')"), "group is called while the script is loaded")
    has(refused("http.batch {}"), "http.batch is called while the script is loaded")
    has(refused("spawn(print)"), "spawn is called while the script is loaded")
  end)
  it("leave no way to code that is not the script's", function()
    local text = [[
      for _, name in ipairs { "ffi", "package", "setfenv", "getfenv", "newproxy", "dofile", "loadfile", "nothing" } do
        assert(not pcall(function() return _G[name] end) and not pcall(function() _G[name] = 1 end) and not load("return " .. name))
      end
      for _, read in ipairs { function() return string.dump end, function() return ("").dump end, function() return debug.getregistry end, function() return jit.on end } do
        assert(not pcall(read))
      end
      assert(getmetatable("") == false and getmetatable(_G) == false and getmetatable(http) == false)
      assert(not pcall(require, "ffi") and not pcall(require, "luabench.core") and not pcall(require, "../x") and not pcall(require, "luabench.main"))
      assert(load("\27LJ") == nil and loadstring("\27LJ") == nil and load("return 1 + 1")() == 2)
      assert(not load("json = 1") and not loadstring("http = 1") and not load("function f() end"))
      assert(load("x = 1 return x", "name", "t", {})() == 1)
      assert(not pcall(function() _G.http = 1 end) and not pcall(function() _G.pairs = 1 end) and _G.http == http)
      local s = require "string"
      assert(s == string and require "bit".band(6, 3) == 2 and ("x"):rep(3) == "xxx" and os.time() > 0)
      scenario "x" { run = function() end }
    ]]
    plan_of(text)
  end)
end)

describe("require", function()
  -- A file made beside the script, whose name stands for MODULE in the script's text.
  local function with_module(text, script)
    local path = stub.file(text)
    return (script:gsub("MODULE", path:match("([^/]*)%.lua$")))
  end
  it("finds files next to the script, once", function()
    local text = with_module("counter = (counter or 0) + 1\nreturn { count = counter, name = ... }", [[
      local m = require "MODULE"
      assert(m == require "MODULE" and m.count == 1 and m.name == "MODULE")
      scenario "x" { run = function() end }]])
    plan_of(text)
  end)
  it("says where it looked", function() has(refused('require "nothing.here"'), "nothing/here.lua") end)
  it("names what is wrong in a module", function()
    has(refused(with_module("x = = 1", 'require "MODULE"')), "unexpected symbol")
    has(refused(with_module("http = 1", 'require "MODULE"')), "`http` cannot be assigned")
    has(refused(with_module("local t; t.x = 1", 'require "MODULE"')), "attempt to index local 't'")
  end)
  it("refuses loops, paths and names of ours that are not public", function()
    has(refused(with_module("require((...))", 'require "MODULE"')), "requires itself")
    has(refused('require "a/b"'), "is not the name of a module")
    has(refused('require "luabench.jsn"'), "there is no module `luabench.jsn`; did you mean `luabench.json`?")
    has(refused("require(5)"), "not 5")
  end)
  it("gives ours", function() plan_of('assert(require "luabench.json" == json)\nscenario "x" { ' .. RUN .. " }") end)
end)

describe("params", function()
  local text = [[
    local p = params { users = { 50, "how many" }, path = "/", fast = true, mode = { "a", "the mode", choices = { "a", "b" } }, token = { "t", "secret", secret = true } }
    scenario(p.path .. p.users .. tostring(p.fast) .. p.mode, { run = function() end })]]
  it("have defaults", function() assert.equal("/50truea", plan_of(text).scenarios[1].name) end)
  it("are set by -p, typed by the default", function()
    local plan = plan_of(text, { "-p", "users=1k", "-p", "path=/x=y", "-p", "fast=no", "-pmode=b" })
    assert.equal("/x=y1000falseb", plan.scenarios[1].name)
    assert.same({ fast = false, mode = "b", path = "/x=y", token = "***", users = 1000 }, plan.options.params)
  end)
  it("are refused when unknown or of a wrong kind", function()
    has(refused(text, { "-p", "usres=1" }), "-p usres: script.lua has no such parameter; did you mean `users`?")
    has(refused(text, { "-p", "users=x" }), '-p users: "x" is not a number (its default is 50)')
    has(refused(text, { "-p", "fast=x" }), "neither true nor false")
    has(refused(text, { "-p", "mode=c" }), "not among its choices: a, b")
    has(refused(text, { "-p", "users" }), '-p: "users" is not NAME=VALUE')
    has(refused(text, { "-p", "users=1", "-p", "users=2" }), "-p users is given twice")
    has(refused('scenario "x" { ' .. RUN .. " }", { "-p", "a=1" }), "has no parameters")
  end)
  it("must be declared rightly", function()
    has(refused("params { users = {} }"), "`users` needs a default")
    has(refused("params { users = { 1, help = 2 } }"), "unknown key `help`")
    has(refused("params { 5 }"), "is no name")
    has(refused("params { m = { 'x', choices = { 'a' } } }"), "is not among its choices")
    has(refused("params { a = 1 } params { a = 2 }"), "declared twice")
    has(refused("local p = params { users = 1 } local x = p.usres"), 'there is no parameter "usres"; did you mean `users`?')
  end)
  it("are listed by --help, secrets without their default", function()
    local command, _, out = stub.command(core, text, { "--help" })
    assert.equal(0, command.status)
    has(out, "users     how many (default 50)")
    has(out, "mode      the mode: a, b (default a)")
    assert.is_nil(out:find("(default t)", 1, true))
  end)
end)
