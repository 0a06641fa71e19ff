-- http.*: what reaches the core for what a script writes, and the errors for what it should not have written.
local stub = require "core_stub"

local core, http

-- The modules with one scenario configured, as after loading; a user of it runs.
local function start(scenario)
  core = stub.install()
  http = require "luabench.http"
  require("luabench.stage").loading = false
  http.configure { scenario or { target = "http://h:1/api", headers = nil } }
  core.user = { scenario = 1 }
end

local function last(name)
  local calls = stub.calls(core, name)
  return calls[#calls], #calls
end

-- The request that went out: prepared, lines, body, timeout.
local function sent(call)
  call()
  local arguments = last "send"
  return arguments[1], arguments[2], arguments[3], arguments[4]
end

local DEFAULT = "Accept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nUser-Agent: luabench/9.9.9\r\n"

before_each(function() start() end)

-- The error of a wrong call, which must name the line of this file.
local function refused(call)
  local ok, text = pcall(call)
  assert.is_false(ok)
  assert.message(text).truthy(text:find("^tests/lua/http_spec.lua:%d+: "))
  return (text:gsub("^[^ ]+ ", ""))
end

local function has(text, part) assert.message(text).truthy(text:find(part, 1, true)) end

describe("http.get", function()
  it("joins target and path, sends the default headers, names the figures", function()
    local prepared, lines, body, timeout = sent(function() http.get("/items?x=1") end)
    assert.same({ scenario = 1, method = "GET", url = "http://h:1/api/items?x=1", lines = DEFAULT, name = "GET /api/items" }, prepared)
    assert.is_nil(lines)
    assert.is_nil(body)
    assert.is_nil(timeout)
  end)

  it("prepares a URL once for each scenario and method", function()
    http.configure { { target = "http://a" }, { target = "http://b" } }
    for _ = 1, 3 do
      http.get("/x")
      http.head("/x")
      core.user.scenario = 2
      http.get("/x")
      core.user.scenario = 1
    end
    local urls = {}
    for _, call in ipairs(stub.calls(core, "prepare")) do urls[#urls + 1] = call[1].method .. " " .. call[1].url end
    assert.same({ "GET http://a/x", "HEAD http://a/x", "GET http://b/x" }, urls)
    assert.equal(9, #stub.calls(core, "send"))
  end)

  it("keeps at most 4096 prepared requests of a kind", function()
    for i = 1, 4096 do http.get("/" .. i) end
    http.get("/1")
    assert.equal(4096, #stub.calls(core, "prepare"))
  end)

  it("forgets them when it has too many", function()
    for i = 1, 4097 do http.get("/" .. i) end
    http.get("/4097")
    assert.equal(4097, #stub.calls(core, "prepare"))
    http.get("/1")
    assert.equal(4098, #stub.calls(core, "prepare"))
  end)

  it("uses the fast head with a body or a timeout of its own", function()
    http.post("/x")
    local prepared, lines, body, timeout = sent(function() http.post("/x", { body = "b", timeout = "250ms" }) end)
    assert.equal(1, #stub.calls(core, "prepare"))
    assert.equal(DEFAULT, prepared.lines)
    assert.same({ nil, "b", 0.25 }, { lines, body, timeout })
  end)
end)

describe("headers", function()
  it("of a request that add to the others go as lines", function()
    local prepared, lines = sent(function() http.get("/x", { headers = { ["X-A"] = 5 } }) end)
    assert.equal(DEFAULT, prepared.lines)
    assert.equal("X-A: 5\r\n", lines)
  end)
  it("replace ours in any case, and false removes", function()
    local prepared, lines = sent(function() http.get("/x", { headers = { ["user-AGENT"] = "me", Accept = false, B = "b" } }) end)
    assert.equal("Accept-Encoding: gzip, deflate, br, zstd\r\nB: b\r\nuser-AGENT: me\r\n", prepared.lines)
    assert.is_nil(lines)
    http.get("/x", { headers = { ["user-AGENT"] = "me", Accept = false, B = "b" } })
    assert.equal(1, #stub.calls(core, "prepare"))
  end)
  it("named Host replace the URL's", function()
    local prepared = sent(function() http.get("/x", { headers = { host = "other" } }) end)
    assert.equal("other", prepared.host)
    assert.equal(DEFAULT, prepared.lines)
  end)
  it("with several values become several lines", function()
    local prepared = sent(function() http.get("/x", { headers = { A = { "1", 2 } } }) end)
    assert.equal("A: 1\r\nA: 2\r\n" .. DEFAULT, prepared.lines)
  end)
  it("of the scenario hold for all, and the request beats the user, who beats the scenario", function()
    start { target = "http://h", headers = { a = { "A", "scenario" }, b = { "B", "scenario" }, c = { "C", "scenario" }, accept = false } }
    core.user.state = { headers = { b = "user", c = "user" } }
    local prepared, lines = sent(function() http.get("/x", { headers = { C = "request" } }) end)
    assert.equal("A: scenario\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nb: user\r\nC: request\r\nUser-Agent: luabench/9.9.9\r\n", prepared.lines)
    assert.is_nil(lines)
  end)
  it("of the user go with requests that have none", function()
    http.get("/x")
    core.user.state = { headers = { Authorization = "Bearer 1" } }
    local _, lines = sent(function() http.get("/x") end)
    assert.equal("Authorization: Bearer 1\r\n", lines)
  end)
  it("that would break the message are refused", function()
    has(refused(function() http.get("/x", { headers = { A = "x\r\nB: y" } }) end), "contains a line break")
    has(refused(function() http.get("/x", { headers = { A = "x\0" } }) end), "zero byte")
    has(refused(function() http.get("/x", { headers = { ["A\r\nB"] = "x" } }) end), "is not a header name")
    has(refused(function() http.get("/x", { headers = { [""] = "x" } }) end), "is not a header name")
    has(refused(function() http.get("/x", { headers = { "x" } }) end), "without a name")
    has(refused(function() http.get("/x", { headers = { A = {}, B = print } }) end), "header `B` must be a string, not a function")
    has(refused(function() http.get("/x", { headers = "A: b" }) end), "must be a table")
    has(refused(function() http.get("/x", { headers = { ["Content-Length"] = 3 } }) end), "is made from the body")
    has(refused(function() http.get("/x", { headers = { ["transfer-encoding"] = "chunked" } }) end), "cannot be set")
    has(refused(function() http.get("/x", { headers = { A = "x\ny", Host = "h" } }) end), "contains a line break")
    assert.equal(0, #stub.calls(core, "send"))
  end)
end)

describe("bodies", function()
  it("in JSON bring their type", function()
    local prepared, lines, body = sent(function() http.post("/x", { json = { a = 1 } }) end)
    assert.equal(DEFAULT, prepared.lines)
    assert.same({ "Content-Type: application/json\r\n", '{"a":1}' }, { lines, body })
  end)
  it("in JSON keep the type that the script gives", function()
    local _, lines = sent(function() http.post("/x", { json = {}, headers = { ["content-type"] = "application/x" } }) end)
    assert.equal("content-type: application/x\r\n", lines)
    start { target = "http://h", headers = { ["content-type"] = { "Content-Type", "application/y" } } }
    _, lines = sent(function() http.post("/x", { json = {} }) end)
    assert.is_nil(lines)
  end)
  it("in JSON may be false and null", function()
    assert.equal("false", select(3, sent(function() http.post("/x", { json = false }) end)))
    assert.equal("null", select(3, sent(function() http.post("/x", { json = core.json_null }) end)))
  end)
  it("that are numbers go out in digits", function() assert.equal("1700000000000000", select(3, sent(function() http.put("/x", { body = 1.7e15 }) end))) end)
  it("that are missing are announced as empty where the method expects one", function()
    for method, expected in pairs { post = "", put = "", patch = "", get = false, delete = false, head = false, options = false } do
      local body = select(3, sent(function() http[method]("/x") end))
      assert.message(method).equal(expected or nil, body)
    end
  end)
  it("must be one, and text", function()
    has(refused(function() http.post("/x", { body = "a", json = {} }) end), "use one")
    has(refused(function() http.post("/x", { body = {} }) end), "to send it as JSON write json = { ... }")
    has(refused(function() http.post("/x", { json = print }) end), "`json`: ")
  end)
end)

describe("options", function()
  it("put a query behind the URL", function()
    assert.equal("http://h:1/api/x?a=1&b=2", sent(function() http.get("/x", { query = { b = 2, a = 1 } }) end).url)
    assert.equal("http://o/?q&b=2", sent(function() http.get("http://o/?q", { query = { b = 2 } }) end).url)
    has(refused(function() http.get("/x", { query = "a=1" }) end), "write query = { name = value }")
  end)
  it("name the figures", function()
    assert.equal("item", sent(function() http.get("/x/1", { name = "item" }) end).name)
    has(refused(function() http.get("/x", { name = 5 }) end), "`name` must be a text")
  end)
  it("may want a version of HTTP of its own", function()
    for _, version in ipairs { "2", "1.1", "auto" } do
      assert.equal(version, sent(function() http.get("/v", { version = version }) end).version)
    end
    assert.is_nil(sent(function() http.get("/v", {}) end).version)
  end)
  it("must be known", function()
    has(refused(function() http.get("/x", { bdy = "x" }) end), "unknown key `bdy`; did you mean `body`?")
    has(refused(function() http.get("/x", { data = "x" }) end), "here it is called `body`")
    has(refused(function() http.get("/x", { version = "3" }) end), "`version`: \"3\" is no version")
    has(refused(function() http.get("/x", { keep_alive = true }) end), "it belongs to the scenario: http = { keep_alive = ... }")
    has(refused(function() http.get("/x", { users = 1 }) end), "it belongs to the scenario")
    has(refused(function() http.get("/x", { "y" }) end), '"y" stands without a key')
    has(refused(function() http.get("/x", { timeout = 0 }) end), "`timeout`: must be more than 0")
    has(refused(function() http.get("/x", { timeout = "1x" }) end), "1 what?")
  end)
end)

describe("calls", function()
  it("must be right", function()
    has(refused(function() http.get() end), "the URL must be a string, not nil")
    has(refused(function() http.get({ url = "/x" }) end), "write http.request")
    has(refused(function() http.post("/x", "body") end), 'a body is { body = "..." }')
    has(refused(function() http.get("/x", nil, {}) end), "takes two arguments")
    has(refused(function() http.get("x") end), "begins with http:// or, to be appended to the target, with /")
    has(refused(function() http.get("/a\nb") end), "control character")
    has(refused(function() http.get("ftp://h/") end), "only http:// and https:// URLs can be requested")
    start { target = nil }
    has(refused(function() http.get("/x") end), "needs a target")
    assert.equal("http://o/", sent(function() http.get("http://o/") end).url)
  end)
  it("without a user show the smallest script", function()
    core.user = nil
    has(refused(function() http.get("/x") end), 'scenario "hello"')
  end)
end)

describe("http.request", function()
  it("takes any method", function()
    local prepared, _, body = sent(function() http.request { method = "PURGE", url = "/x", body = "b" } end)
    assert.same({ "PURGE", "http://h:1/api/x", "PURGE /api/x", "b" }, { prepared.method, prepared.url, prepared.name, body })
    assert.equal("GET", sent(function() http.request { url = "/x" } end).method)
    assert.equal("POST", sent(function() http.request { method = "post", url = "/x" } end).method)
    assert.equal("purge", sent(function() http.request { method = "purge", url = "/x" } end).method)
  end)
  it("must be called rightly", function()
    has(refused(function() http.request("/x") end), "one table")
    has(refused(function() http.request {} end), "`url` is missing")
    has(refused(function() http.request { url = "/x", method = "GET /" } end), "must be a word")
    has(refused(function() http.request { url = "/x", method = "connect" } end), "CONNECT")
  end)
end)
