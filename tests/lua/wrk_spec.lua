local stub = require "core_stub"

describe("the table wrk", function()
  local api, core

  before_each(function()
    core = stub.install()
    core.raw_format = function() end -- what it makes is the same, in C
    core.time = function() return 1700000000.5 end
    core.check_plain = function(value) if type(value) == "function" then error("cannot transfer 'function' to thread", 0) end end
    api = require "luabench.wrk.api"
  end)

  local function new(url, headers, env) return api.new(env or {}, api.target(url or "http://127.0.0.1:8080/a?b=1#c"), headers or {}) end

  it("takes the URL apart as wrk does", function()
    local wrk = new()
    assert.are.same({ "http", "127.0.0.1", "8080", "/a?b=1#c" }, { wrk.scheme, wrk.host, wrk.port, wrk.path })
    local other = new "https://[::1]"
    assert.are.same({ "https", "::1", "/" }, { other.scheme, other.host, other.path })
    assert.is_nil(other.port)
  end)

  it("formats a request of its fields", function()
    local wrk = new(nil, { { "X-Given", "1" } })
    assert.are.equal("GET /a?b=1#c HTTP/1.1\r\nX-Given: 1\r\n\r\n", wrk.format()) -- no Host before init
    wrk.init({})
    assert.are.equal("127.0.0.1:8080", wrk.headers.Host)
    assert.are.equal(wrk.format(), wrk.request())
  end)

  it("puts an IPv6 address into brackets in Host", function()
    local wrk = new "http://[::1]:81/"
    wrk.init({})
    assert.are.equal("[::1]:81", wrk.headers.Host)
  end)

  it("changes the table of headers that it is given", function()
    local wrk = new()
    wrk.init({})
    local headers = { ["Content-Length"] = 7, A = 5 }
    local text = wrk.format("POST", "/x", headers)
    assert.are.same({ A = 5, Host = "127.0.0.1:8080" }, headers)
    assert.is_truthy(text:find("^POST /x HTTP/1.1\r\n") and text:find("\r\nA: 5\r\n", 1, true) and text:find("\r\n\r\n$"))
    text = wrk.format("POST", "/x", headers, "some\0")
    assert.are.equal(5, headers["Content-Length"])
    assert.are.equal("some\0", text:match("\r\n\r\n(.*)$"))
    text = wrk.format("POST", "/x", headers, "")
    assert.are.equal(0, headers["Content-Length"])
    assert.is_truthy(text:find("Content-Length: 0\r\n", 1, true))
  end)

  it("sends wrk.body with every request that has none of its own", function()
    local wrk = new()
    wrk.body = "default"
    assert.is_truthy(wrk.format("GET"):find("Content-Length: 7\r\n", 1, true))
  end)

  it("knows names of headers as they are written alone", function()
    local wrk = new()
    wrk.init({})
    local text = wrk.format("GET", "/", { host = "other" })
    assert.is_truthy(text:find("host: other\r\n", 1, true) and text:find("Host: 127.0.0.1:8080\r\n", 1, true))
  end)

  it("calls the script's init", function()
    local env, got = {}, nil
    local wrk = new(nil, nil, env)
    env.init = function(args) got, wrk.path = args, "/later" end
    wrk.init({ "x" })
    assert.are.same({ "x" }, got)
    assert.is_truthy(wrk.request():find("^GET /later "))
  end)

  it("tells the time in microseconds", function() assert.are.equal(1700000000500000, new().time_us()) end)

  describe("threads", function()
    local thread, own
    before_each(function()
      own = {}
      thread = api.thread {
        get = function(name) return own[name] end, set = function(name, value) own[name] = value end, stop = function() own.stopped = true end,
        address = function() return own.addr end, move = function(address) own.addr = address end,
      }
    end)

    it("carry values", function()
      thread:set("a", { 1 })
      assert.are.same({ 1 }, thread:get("a"))
      assert.has_error(function() thread:set("f", print) end)
      thread:stop()
      assert.is_true(own.stopped)
    end)

    it("have an address, and every other key is its own name", function()
      local address = api.address("::1", "80")
      thread.addr = address
      assert.are.equal(address, thread.addr)
      assert.are.equal("::1:80", tostring(thread.addr))
      assert.are.equal("other", thread.other)
      assert.has_error(function() thread.other = 1 end, nil)
      assert.has_error(function() thread.addr = "127.0.0.1" end)
    end)
  end)
end)

local function hist(values)
  local times, sorted, sum, squares = {}, { unpack(values) }, 0, 0
  table.sort(sorted)
  for i, value in ipairs(sorted) do times[i], sum = 1, sum + value end
  local mean = sum / #sorted
  for _, value in ipairs(sorted) do squares = squares + (value - mean) ^ 2 end
  return {
    counters = function() return sorted, times end, count = function() return #sorted end, min = function() return sorted[1] end,
    max = function() return sorted[#sorted] end, mean = function() return #sorted > 0 and mean or nil end,
    stddev = function() return #sorted > 0 and math.sqrt(squares / #sorted) or nil end,
    quantile = function(_, q) return sorted[math.max(1, math.ceil(q * #sorted))] end,
  }
end

describe("what done() gets", function()
  local stats
  before_each(function()
    stub.install()
    stats = require "luabench.wrk.stats"
  end)

  it("has latency in microseconds, with wrk's forms and wrk2's", function()
    local values = {}
    for i = 1, 100 do values[i] = i * 1e-3 + 5e-8 end
    local latency = stats.of_hist(hist(values))
    assert.are.equal(1000, latency.min)
    assert.are.equal(100000, latency["max"])
    assert.near(50500, latency.mean, 1)
    assert.near(math.sqrt((100 ^ 2 - 1) / 12) * 1000, latency.stdev, 1) -- of 1 .. 100
    assert.are.same({ 50000, 99000, 100000, 1000 }, { latency:percentile(50), latency:percentile(99), latency:percentile(100), latency:percentile(0) })
    assert.are.same({ 3000, 1 }, { latency(3) })
    assert.are.same({ 0, 100 }, { latency(101) })
    assert.are.equal(100, #latency)
    assert.are.equal(50000, latency[50])
    assert.are.equal("total", latency.total)
  end)

  it("counts values that are the same microsecond together", function()
    local latency = stats.of_hist(hist { 1.1e-6, 1.9e-6, 5e-6 })
    assert.are.equal(2, #latency)
    assert.are.same({ 1, 2 }, { latency(1) })
  end)

  it("has zeros where nothing was measured", function()
    local latency = stats.of_hist(hist {})
    assert.are.same({ 0, 0, 0, 0, 0, 0 }, { latency.min, latency.max, latency.mean, latency.stdev, latency:percentile(99), #latency })
  end)

  it("has requests a second of one thread", function()
    local rates = stats.rates { series = { { time = 1, requests = 200 }, { time = 2, requests = 100 }, { time = 2.1, requests = 1 } }, generator = { threads = 2 }, total = {} }
    assert.are.same({ 100, 50 }, rates)
    local requests = stats.of_list(rates)
    assert.are.same({ 75, 50, 100 }, { requests.mean, requests.min, requests.max })
  end)

  it("sums up", function()
    local summary = stats.summary { duration = 2.5, total = { responses = 10, bytes_received = 99, timed_out = 2, errors = { connect = 1, dns = 1, reset = 3, timeout = 2 },
      statuses = { [200] = 5, [404] = 3, [503] = 2, [399] = 1 } } }
    assert.are.same({ duration = 2500000, requests = 10, bytes = 99, errors = { connect = 2, read = 3, write = 0, status = 5, timeout = 2 } }, summary)
  end)
end)

describe("--report wrk", function()
  local report
  before_each(function()
    stub.install()
    report = require "luabench.report.wrk"
  end)

  it("chooses units as wrk does", function()
    local times = { [635.91] = "635.91us", [890] = "0.89ms", [849] = "849.00us", [12920] = "12.92ms", [999999] = "1000.00ms", [30e6] = "30.00s", [51e6] = "0.85m", [7200e6] = "120.00m" }
    for us, text in pairs(times) do assert.are.equal(text, report.time(us)) end
    local counts = { [0] = "0.00", [849] = "849.00", [850] = "0.85k", [56200] = "56.20k", [2e9] = "2.00G" }
    for value, text in pairs(counts) do assert.are.equal(text, report.count(value)) end
    local sizes = { [869] = "869.00", [880] = "0.86K", [17.76 * 2 ^ 30] = "17.76G" }
    for value, text in pairs(sizes) do assert.are.equal(text, report.bytes(value)) end
  end)

  it("has its lines and columns", function()
    local results = {
      duration = 30, generator = { threads = 2 }, series = { { time = 1, requests = 112400 }, { time = 2, requests = 112400 } },
      total = { service = hist { 635.91e-6, 635.91e-6 }, responses = 300, bytes_received = 3 * 2 ^ 20, timed_out = 4, statuses = { [500] = 7 }, errors = { reset = 6, timeout = 4 } },
    }
    local text = report.render({ latency = true, url = "http://h/", scenarios = { { duration = 60, users = 40 } } }, results)
    assert.are.equal([[
Running 1m test @ http://h/
  2 threads and 40 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.00us 635.91us  100.00%
    Req/Sec    56.20k     0.00    56.20k   100.00%
  Latency Distribution
     50%  635.91us
     75%  635.91us
     90%  635.91us
     99%  635.91us
  300 requests in 30.00s, 3.00MB read
  Socket errors: connect 0, read 6, write 0, timeout 4
  Non-2xx or 3xx responses: 7
Requests/sec:     10.00
Transfer/sec:    102.40KB
]], text)
  end)
end)
