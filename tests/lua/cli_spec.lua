-- The command line: what it means, what it replaces in a script, and what is said when it is wrong.
local stub = require "core_stub"

local core
before_each(function() core = stub.install() end)
after_each(stub.clean)

local ONE = 'scenario "one" { target = "http://h", users = 7, duration = 5, ramp_up = 3, run = function() end }'
local TWO = ONE .. '\nscenario "two" { users = 2, iterations = 9, run = function() end }'

local function command(argv) return require("luabench.main").command(argv, "control") end

local function refused(argv)
  core.written[2] = ""
  local result = command(argv)
  assert.same({ "exit", 2 }, { result.action, result.status })
  return core.written[2]
end

local function script(text, argv)
  local result, err = stub.command(core, text, argv)
  return result, err
end

local function has(text, part) assert.message(text).truthy(text:find(part, 1, true)) end

describe("a URL", function()
  it("is quick mode: 10 users, 10 s", function()
    local plan = command { "http://127.0.0.1:8080/a?b=1" }
    local each = plan.scenarios[1]
    assert.same({ "run", "GET /a", "closed", 10, 10 }, { plan.action, each.name, each.model, each.users, each.duration })
    assert.equal("http://127.0.0.1:8080/a?b=1", plan.url)
    core.user = { scenario = 1 }
    each.run()
    local call = stub.calls(core, "send")[1]
    assert.same({ "http://127.0.0.1:8080/a?b=1", "GET" }, { call[1].url, call[1].method })
  end)
  it("takes the options of the request", function()
    local path = stub.file("from file", ".json")
    local cases = {
      { { "-b", "-5" }, "POST", "-5" }, { { "-f", path }, "POST", "from file" }, { { "-X", "put", "--body", "" }, "PUT", "" }, { { "-XDELETE" }, "DELETE", nil },
      { { "--data={}" }, "POST", "{}" },
    }
    for _, case in ipairs(cases) do
      core = stub.install()
      local argv = { "h:1/x", "-n", "10k", "-c3", "-H", "X-A: 1", "-H", "x-a: 2", "-HAccept:", "-H", "Host: other", unpack(case[1]) }
      local plan = command(argv)
      assert.message(core.written[2]).equal("run", plan.action)
      assert.same({ 3, 10000 }, { plan.scenarios[1].users, plan.scenarios[1].iterations })
      assert.is_nil(plan.scenarios[1].duration)
      core.user = { scenario = 1 }
      plan.scenarios[1].run()
      local call = stub.calls(core, "send")[1]
      assert.same({ case[2], case[3], "http://h:1/x", "other" }, { call[1].method, call[3], call[1].url, call[1].host })
      assert.equal("Accept-Encoding: gzip, deflate, br, zstd\r\nUser-Agent: luabench/9.9.9\r\nX-A: 1\r\nX-A: 2\r\n", call[1].lines)
    end
  end)
  it("is refused when it cannot be requested", function()
    has(refused { "ftp://h" }, "only http:// and https://")
    has(refused { "http://h", "--target", "http://i" }, "--target replaces a script's target")
    has(refused { "http://h", "-p", "a=1" }, "there is none")
    has(refused { "http://h", "--only", "a" }, "there is none")
    has(refused { "http://h", "--", "a" }, "there is none")
    has(refused { "http://h", "-b", "x", "-f", stub.file("y") }, "-b and -f both give a body")
  end)
end)

describe("options that change the load", function()
  it("replace the script's", function()
    local cases = {
      { {}, { 7, 5, nil, nil, 3 } },
      { { "-c", "2" }, { 2, 5, nil, nil, 0 } },
      { { "--vus=2", "--ramp-up", "1m" }, { 2, 5, nil, nil, 60 } },
      { { "-n", "10" }, { 7, nil, 10, nil, 3 } },
      { { "-d", "1m30s" }, { 7, 90, nil, nil, 3 } },
      { { "--duration=2", "--requests", "5" }, { 7, 2, 5, nil, 3 } },
      { { "-n", "1", "-c", "1" }, { 1, nil, 1, nil, 0 } },
    }
    for _, case in ipairs(cases) do
      local each = script(ONE, case[1]).scenarios[1]
      local got = { each.users, each.duration, each.iterations, each.iterations_per_user, each.ramp_up }
      for i = 1, 5 do assert.message(table.concat(case[1], " ") .. " #" .. i).equal(case[2][i], got[i]) end
    end
    assert.equal(1.5, script(ONE, { "--graceful-stop", "1500ms" }).scenarios[1].graceful_stop)
    assert.is_nil(script(TWO, { "--only", "two", "-d", "3" }).scenarios[1].iterations)
  end)
  it("need one scenario", function()
    for _, option in ipairs { "-c", "-d", "-n", "--ramp-up", "--graceful-stop" } do
      local result, err = script(TWO, { option, "3" })
      assert.equal(2, result.status)
      has(err, option .. " changes the load of one scenario, and there are 2; choose one with --only NAME")
      has(err, '"one", "two"')
    end
    local plan = script(TWO, { "--only", "two", "--only", "one" })
    assert.same({ "one", "two" }, { plan.scenarios[1].name, plan.scenarios[2].name })
    local _, err = script(TWO, { "--only", "tow" })
    has(err, 'there is no scenario "tow"; did you mean `two`?')
  end)
  it("cap the threads at the users", function()
    assert.equal(9, script(TWO, { "-t", "64" }).threads)
    assert.equal(3, script(TWO, { "-t3" }).threads)
    assert.is_nil(script(TWO).threads)
  end)
end)

describe("options of requests", function()
  it("hold for every scenario", function()
    local plan = script(TWO, { "-T", "2s", "--connect-timeout", "1", "--no-keepalive", "--lenient-http", "-H", "A: b", "--target", "o:1/base/" })
    for i = 1, 2 do
      local each = plan.scenarios[i]
      assert.same({ 2, 1, false, true, "http://o:1/base" }, { each.http.timeout, each.http.connect_timeout, each.http.keep_alive, each.http.lenient, each.target })
      assert.same({ "A", "b" }, each.headers.a)
    end
    assert.equal("http://o:2", script(TWO, { "http://o:2/" }).scenarios[2].target)
    assert.equal(5, script(ONE, { "--requests-per-connection", "5" }).scenarios[1].http.requests_per_connection)
    local three, alone = ONE:gsub("run =", "http = { requests_per_connection = 3 }, run ="), ONE:gsub("run =", "http = { keep_alive = false }, run =")
    local http = script(three, { "--no-keepalive" }).scenarios[1].http
    assert.same({ false, 0 }, { http.keep_alive, http.requests_per_connection })
    http = script(alone, { "--requests-per-connection", "5" }).scenarios[1].http
    assert.same({ true, 5 }, { http.keep_alive, http.requests_per_connection })
  end)

  it("share connections as -m says", function()
    local function of(text, argv)
      local http = script(text, argv).scenarios[1].http
      return { http.connections or 0, http.streams or 0 }
    end
    assert.same({ 0, 0 }, of(ONE, { "-c", "100" }))
    assert.same({ 10, 10 }, of(ONE, { "--http", "2", "-c", "100", "-m", "10" }))
    assert.same({ 11, 10 }, of(ONE, { "--http", "2", "-c", "101", "-m", "10" }))
    assert.same({ 1, 10 }, of(ONE, { "--http", "2", "-c", "3", "--streams", "10" }))
    local shared = 'scenario "a" { target = "http://h", users = 8, connections = 4, run = function() end }'
    assert.same({ 4, 0 }, of(shared, {}))
    assert.same({ 4, 2 }, of(shared, { "--http", "2", "-m", "2" }))
    assert.same({ 1, 0 }, of(shared, { "-c", "1" }))
    has(refused { "http://h", "-m", "10", "--http", "1.1" }, "HTTP/1.1 has none")
    has(refused { "http://h", "-m", "10" }, "http:// speaks HTTP/2 with --http 2 alone")
  end)
end)

describe("options of the results", function()
  it("are told to the reports", function()
    local plan = script(ONE, { "-L", "--json", "--quiet", "--threshold", "http.latency: p(99) < 200ms", "--threshold", "checks: rate > 99%", "--script-timeout", "3" })
    assert.same({ true, true, "none", false, 3 }, { plan.latency, plan.json, plan.progress, plan.color, plan.script_timeout })
    assert.same({ { expression = "http.latency: p(99) < 200ms" }, { expression = "checks: rate > 99%" } }, plan.thresholds)
    plan = script(ONE, { "--interval", "2" })
    assert.same({ "lines", 2 }, { plan.progress, plan.interval })
  end)
  it("use colors and the block on a terminal alone", function()
    core.terminal = function() return 80 end
    local plan = script(ONE)
    assert.same({ "block", true }, { plan.progress, plan.color })
    plan = script(ONE, { "--no-color", "--quiet" })
    assert.same({ "none", false }, { plan.progress, plan.color })
  end)
  it("open the output files before anything is sent, and keep what is in them", function()
    local path = stub.file("old content", ".json")
    local plan = script(ONE, { "-o", path })
    assert.same({ { path = path, format = "json" } }, plan.outputs)
    assert.equal("old content", require("luabench.files").read(path))
    local _, err = script(ONE, { "-o", "no/such/folder/x.json" })
    has(err, "-o: cannot write no/such/folder/x.json: No such file or directory")
  end)
  it("do not open them in a worker or a dry run", function()
    assert.equal("run", (stub.command(core, ONE, { "-o", "no/such/folder/x.json" }, "worker")).action)
    assert.equal(0, script(ONE, { "-o", "no/such/folder/x.json", "--dry-run" }).status)
  end)
end)

describe("wrong options", function()
  local cases = {
    { { "-d", '{"a":1}' }, '-d is the duration, and "{"a":1}" is none; a body is -b' },
    { { "-c", "10s" }, "-c is the number of users" }, { { "-t", "30s" }, "how long to run is -d" }, { { "-T", "text/html" }, "a content type is -H" },
    { { "-d", "http://x" }, "a URL stands alone" }, { { "-n", "POST" }, "a method is -X" }, { { "-d", "X-A: b" }, "a header is -H" }, { { "-d", "a=b" }, "a parameter of the script is -p" },
    { { "-c", "0" }, '-c: must be 1 or more, not "0"' }, { { "-c", "-5" }, "must be 1 or more" }, { { "-d", "-5s" }, "must be 0 or more" }, { { "-d0" }, "must be more than 0" },
    { { "-n", "1.5" }, "not a whole number" }, { { "-c", "1e400" }, "not a usable number" }, { { "-d", "nan" }, "is not a duration" }, { { "-d", "inf" }, "is not a duration" },
    { { "--duraton", "5" }, "unknown option --duraton; did you mean --duration?" }, { { "-Z" }, "unknown option -Z" }, { { "--rounds", "5" }, "--rounds is for comparisons, and" },
    { { "-F", "a=b" }, "-F says what quick mode requests" }, { { "-c" }, "-c needs a value: -c 50" }, { { "--quiet=1" }, "--quiet takes no value" },
    { { "-c", "5", "--users", "6" }, "-c is given twice" }, { { "-H", "foo" }, "write 'Name: value'" }, { { "-H", "A B: c" }, "is no header" },
    { { "-o", "x.txt" }, "the ending says the format; known: FILE.json" }, { { "-o", "a.json", "-o", "./a.json" }, "-o ./a.json is given twice (once as a.json)" }, { { "-o", "-" }, "--json" },
    { { "-o", "a.json", "-o", "a.json" }, "-o a.json is given twice" }, { { "-X", "A B" }, "is not a method" }, { { "-f", "no-such-file" }, "-f: cannot read no-such-file" },
    { { "--target", "x" }, 'write "http://x"' }, { { "--quiet", "--interval", "1" }, "use one" }, { { "--no-keepalive", "--requests-per-connection", "5" }, "use one" },
    { { "-b", "x" }, "-b says what quick mode requests" }, { { "-X", "PUT" }, "-X says what quick mode requests" }, { { "word" }, "stand behind --: luabench" },
    { { "http://a", "--target", "http://b" }, "both give the target" }, { { "http://a", "http://b" }, "too many arguments" }, { { "--threshold", "http.latency: p(99) < 200" }, "200 what?" },
    { { "--only", "" }, "--only: its value is empty; write --only 'browse'" },
  }
  for _, case in ipairs(cases) do
    it(table.concat(case[1], " "), function()
      local result, err = script(ONE, case[1])
      assert.same({ "exit", 2 }, { result.action, result.status })
      has(err, case[2])
      assert.is_nil(io.open("a.json"))
    end)
  end
  it("-b @FILE, when there is such a file", function()
    local path = stub.file("x")
    has(refused { "http://h", "-b", "@" .. path }, "write -f " .. path)
    assert.equal("run", command({ "http://h", "-b", "@nothing" }).action)
  end)
end)

describe("words", function()
  it("that mean nothing are explained", function()
    has(refused {}, "nothing to run; give a script or a URL")
    has(refused { "srve" }, "did you mean `luabench serve`?")
    has(refused { "example.com" }, "luabench http://example.com")
    has(refused { "no.lua" }, "cannot read the script no.lua")
  end)
  it("may name a ready-made plan", function()
    local path = stub.file(ONE)
    local folder, name = path:match("^(.*)/([^/]*)%.lua$")
    local getenv = os.getenv
    os.getenv = function(variable) return variable == "LUABENCH_PATH" and "/nowhere:" .. folder or getenv(variable) end
    local plan = command { name }
    os.getenv = getenv
    assert.equal(path, plan.script)
  end)
  it("run is the default", function()
    local path = stub.file(ONE)
    assert.equal("run", command({ "run", path }).action)
    assert.equal("run", command({ path }).action)
  end)
end)

describe("serve", function()
  it("has its own options", function()
    assert.same({ action = "serve", port = 8080, host = "127.0.0.1", threads = 1 }, command { "serve" })
    assert.same({ action = "serve", port = 0, host = "::1", threads = 2 }, command { "serve", "--port", "0", "--host", "::1", "-t", "2" })
    has(refused { "serve", "--prot", "1" }, "did you mean --port?")
    has(refused { "serve", "80" }, "serve takes no argument")
    has(refused { "serve", "--port", "65536" }, "from 0 to 65535")
  end)

  it("has options for TLS and for faults", function()
    assert.same({ action = "serve", port = 8080, host = "127.0.0.1", threads = 1, tls = true, cert_out = "c.pem", http = "2", goaway_after = 10, streams = 0,
                  window = 65536, read_rate = 1000 },
      command { "serve", "--tls", "--cert-out", "c.pem", "--http", "2", "--goaway-after", "10", "--streams", "0", "--window", "64KiB", "--read-rate", "1000" })
    has(refused { "serve", "--cert-out", "c.pem" }, "none without it")
    has(refused { "serve", "--streams", "4294967296" }, "from 0 to 4294967295")
    has(refused { "serve", "--window", "2GiB" }, "the largest is 2147483647")
    has(refused { "serve", "--read-rate", "0" }, "more than 0")
    has(refused { "serve", "--goaway-after", "0" }, "--goaway-after")
    has(refused { "serve", "--http", "3" }, "is no version")
  end)
end)

describe("help and version", function()
  it("go to standard output with status 0", function()
    for _, argv in ipairs { { "--help" }, { "-h" }, { "serve", "--help" }, { "--version" }, { "http://h", "--help" } } do
      core.written = { "", "" }
      assert.same({ action = "exit", status = 0 }, command(argv))
      assert.is_true(#core.written[1] > 10)
      assert.equal("", core.written[2])
      for line in core.written[1]:gmatch("[^\n]+") do assert.message(line).is_true(#line <= 80) end
    end
    core.written[1] = ""
    command { "--version" }
    assert.equal("luabench 9.9.9\n", core.written[1])
  end)
  it("list every option", function()
    command { "--help" }
    for _, group in ipairs(require("luabench.flags").run) do
      for _, row in ipairs(group) do has(core.written[1], row[3]) end
    end
  end)
end)

describe("--dry-run", function()
  it("says who, when and how much, and sends nothing", function()
    local result, _, out = stub.command(core, TWO, { "--dry-run" })
    assert.same({ "exit", 0 }, { result.action, result.status })
    for _, part in ipairs { "2 scenarios", '"one" against http://h', "7 users, for 5 s", "users start over 3 s", "2 users, 9 iterations in total", "Nothing is sent" } do has(out, part) end
    assert.same({}, core.calls)
  end)
end)
