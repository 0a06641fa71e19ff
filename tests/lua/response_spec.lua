-- luabench.response: the fields of script contract section 4.
local stub = require "core_stub"
local core = stub.install()
local response = require "luabench.response"

local HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nset-cookie: a=1\r\nSet-Cookie: b=2\r\nX-List: one\r\nX-Folded: begin\r\n  end\r\nx-list:  two \r\nEmpty:\r\n\r\n"

local function make(body, over)
  local fields = { status = 200, ok = true, error = nil, head = HEAD, text = nil }
  for key, value in pairs(over or {}) do fields[key] = value end
  local prepared = {}
  response.note(prepared, "http://h/x", "GET")
  return response.new(prepared, fields.status, fields.ok, fields.error, #body, body, fields.head, "marks", nil, fields.text)
end

local function refused(call)
  local ok, text = pcall(call)
  assert.is_false(ok)
  assert.message(text).truthy(text:find("^tests/lua/response_spec.lua:%d+: "))
  return text
end

local function has(text, part) assert.message(text).truthy(text:find(part, 1, true)) end

describe("a response", function()
  it("has its plain fields", function()
    local res = make("hello")
    assert.same({ 200, true, nil, nil, "hello", 5, "http://h/x", "1.1", 0.0125 },
      { res.status, res.ok, res.error, res.error_text, res.body, res.size, res.url, res.version, res.time.total })
    assert.equal(res.time, res.time)
    assert.equal("GET http://h/x: 200, 5 bytes in 12.5 ms", tostring(res))
  end)
  it("has no version where there is no answer", function()
    assert.is_nil(make("", { status = 0, ok = false, error = "connect" }).version)
  end)
  it("has headers in any case, joined, with the first Set-Cookie", function()
    local res = make("")
    assert.same({ "text/html; charset=utf-8", "text/html; charset=utf-8", "a=1", "one, two", "begin end", "" },
      { res.headers["content-type"], res.headers["Content-TYPE"], res.headers["Set-Cookie"], res.headers["X-List"], res.headers["x-folded"], res.headers.empty })
    assert.is_nil(res.headers["no-such"])
    assert.is_nil(res.headers[1])
    assert.same({ "a=1", "b=2" }, res:header_list("SET-cookie"))
    assert.same({}, res:header_list("nothing"))
    local seen = {}
    for name, value in res:each_header() do seen[#seen + 1] = name .. "=" .. value end
    assert.same({ "Content-Type=text/html; charset=utf-8", "set-cookie=a=1", "Set-Cookie=b=2", "X-List=one", "X-Folded=begin end", "x-list=two", "Empty=" }, seen)
  end)
  it("without an answer has no headers", function()
    local res = make("", { status = 0, ok = false, error = "reset", head = false, text = "the connection was reset" })
    assert.same({}, res.headers)
    assert.same({ 0, false, "reset", "the connection was reset" }, { res.status, res.ok, res.error, res.error_text })
    assert.equal("GET http://h/x: reset (the connection was reset) in 12.5 ms", tostring(res))
  end)
  it("with a status that is not accepted says so", function()
    assert.equal("status 404", make("", { status = 404, ok = false, error = "status" }).error_text)
  end)
  it("is one line as a text", function()
    assert.equal("GET http://h/x: 404, not accepted, 0 bytes in 12.5 ms", tostring(make("", { status = 404, ok = false, error = "status" })))
    local res = make("x")
    response.spoil(res, "no x")
    assert.equal("GET http://h/x: 200, unexpected (no x), 1 byte in 12.5 ms", tostring(res))
  end)
  it("gives its cookies, location and redirects", function()
    local res = make("", { head = "HTTP/1.1 302 X\r\nSet-Cookie: a=1; Path=/\r\nset-cookie:b=2\r\nSet-Cookie: a=3\r\nset-cookie: =4\r\nLocation: ../y z?q#f\r\n\r\n" })
    assert.same({ a = "3", b = "2" }, res.cookies)
    assert.equal("http://h/y%20z?q#f", res.location)
    assert.equal(0, res.redirects)
    assert.is_nil(make("").location)
    assert.same({}, make("", { status = 0, ok = false, error = "reset", head = false, text = "x" }).cookies)
    assert.equal("http://h/img.png", res:link("img.png"))
    assert.equal("http://o/", res:link("//o/"))
    has(refused(function() res:link() end), "res:link(url) needs a string, got nil")
  end)
  it("knows no other fields", function()
    local res = make("")
    has(refused(function() return res.stauts end), "a response has no field `stauts`; did you mean `status`?")
    has(refused(function() return res.status_code end), "did you mean `status`?")
    has(refused(function() return res.banana end), "it has status, ok, error")
  end)
  it("can hold what the script puts into it", function()
    local res = make("")
    res.mine = 5
    assert.equal(5, res.mine)
  end)
end)

describe("res:json", function()
  local body = '{"data":{"items":[{"id":7},{"id":8}],"a.b":1,"none":null,"no":false},"n":4111111111111111}'
  it("is the decoded body", function()
    local res = make(body)
    assert.equal(7, res:json().data.items[1].id)
    assert.equal(4111111111111111, res:json().n)
    assert.equal(res:json(), res:json())
    assert.equal(core.json_null, make("null"):json())
  end)
  it("finds what is at a path, counted from 1", function()
    local res = make(body)
    for path, expected in pairs { ["data.items[1].id"] = 7, ["data.items[2].id"] = 8, ['data["a.b"]'] = 1, ["data.no"] = false, n = 4111111111111111 } do
      assert.message(path).equal(expected, res:json(path))
    end
    assert.equal(2, make("[1,2]"):json("[2]"))
  end)
  it("returns nil and why when there is nothing", function()
    local res = make(body)
    for path, part in pairs { ["data.none"] = "is null", ["data.none.x"] = "nothing at", ["data.items[3].id"] = "no `3` there", ["x.y"] = "no `x` there", ["n.x"] = "no `x` there" } do
      local value, why = res:json(path)
      assert.is_nil(value)
      has(why, part)
    end
    local value, why = make("<html>"):json("a")
    assert.is_nil(value)
    has(why, "the body is not JSON")
    has(select(2, make("", { status = 0, error = "timeout" }):json()), "no response (timeout)")
  end)
  it("refuses what is no path", function()
    local res = make(body)
    for _, path in ipairs { "data..x", ".data", "data[0]", "data[x]", "data.", "a b]" } do has(refused(function() return res:json(path) end), "is no path") end
    has(refused(function() return res.json() end), "with a colon")
    has(refused(function() return res:json(5) end), "needs a string")
    has(refused(function() return res:json("a", "b") end), "one path")
  end)
end)

describe("res:match and res:between", function()
  it("look into the body", function()
    local res = make('<a href="/x?b=1">link</a> [two] 42')
    assert.same({ "/x?b=1", "link" }, { res:match('href="([^"]+)">(%a+)') })
    assert.is_nil(res:match("nothing"))
    assert.equal("two", res:between("[", "]"))
    assert.equal("link", res:between(">", "</a>"))
    assert.is_nil(res:between("[", "nothing"))
    assert.is_nil(res:between("nothing", "]"))
    assert.equal("", make("()"):between("(", ")"))
  end)
  it("refuse what they cannot look for", function()
    local res = make("x")
    has(refused(function() return res:match("(") end), "res:match: ")
    has(refused(function() return res:match() end), "needs a string, got nil")
    has(refused(function() return res:between("a") end), "needs a string, got nil")
    has(refused(function() return res.between("a", "b") end), "with a colon")
  end)
end)
