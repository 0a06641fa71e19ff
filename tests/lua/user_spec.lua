-- luabench.user: the fields of `user` that Lua keeps.
local stub = require "core_stub"

local core, user, site

local function start(http)
  core = stub.install()
  site = require "luabench.site"
  require "luabench.user"
  site.configure { { target = "http://h.example/api", http = http } }
  core.user = { scenario = 1 }
  user = setmetatable({}, { __index = function(_, key) return core.user_read(core.user, key) end, __newindex = function(_, key, value) core.user_write(core.user, key, value) end })
end

before_each(function() start() end)

local function refused(call)
  local ok, text = pcall(call)
  assert.is_false(ok)
  assert.message(text).truthy(text:find("^tests/lua/user_spec.lua:%d+: "))
  return (text:gsub("^[^ ]+ ", ""))
end

describe("user", function()
  it("keeps headers and credentials, and has none at first", function()
    assert.is_nil(user.headers)
    assert.is_nil(user.auth)
    assert.is_nil(core.user.state)
    local headers = { A = "b" }
    user.headers, user.auth = headers, { bearer = "t" }
    assert.equal(headers, user.headers)
    assert.equal("t", user.auth.bearer)
    user.headers = nil
    assert.is_nil(user.headers)
  end)
  it("refuses what is none", function()
    assert.equal('user.headers must be a table, not "x"; write user.headers = { ["X-Name"] = "value" }', refused(function() user.headers = "x" end))
    assert.equal("user.auth: the token is empty; was it read from where it should be?", refused(function() user.auth = { bearer = "" } end))
    assert.equal('user.auth: must be a table, not "me"; write auth = { user, password } or { bearer = token }', refused(function() user.auth = "me" end))
    assert.equal("user.cookies cannot be assigned; write user.cookies:set(name, value)", refused(function() user.cookies = {} end))
    assert.equal("user.basket cannot be assigned; use user.vars.basket", refused(function() user.basket = 1 end))
    assert.equal("user has no field `header`, did you mean `headers`?; your own values belong into user.vars, as user.vars.header", refused(function() return user.header end))
    assert.equal("user has no field `basket`; your own values belong into user.vars, as user.vars.basket", refused(function() return user.basket end))
  end)
end)

describe("user.cookies", function()
  it("gets what it sets", function()
    assert.is_nil(user.cookies:get "a")
    assert.is_nil(core.user.state)
    user.cookies:set("a", "1")
    user.cookies:set("n", 1.7e15)
    user.cookies:set("deep", "2", { path = "/api/deep" })
    user.cookies:set("other", "3", { url = "http://other.example/x" })
    user.cookies:set("wide", "4", { domain = "H.example" })
    user.cookies:set("safe", "5", { secure = true })
    assert.same({ "1", "1700000000000000", nil, nil, "4", nil },
      { user.cookies:get "a", user.cookies:get "n", user.cookies:get "deep", user.cookies:get "other", user.cookies:get "wide", user.cookies:get "safe" })
    assert.same({ "2", "3", "4", "5" }, { user.cookies:get("deep", "/deep/x"), user.cookies:get("other", "http://other.example/"), user.cookies:get("wide", "http://sub.h.example/"),
      user.cookies:get("safe", "https://h.example/") })
  end)
  it("expire", function()
    local now = 100
    core.now = function() return now end
    user.cookies:set("a", "1", { max_age = "1m" })
    now = 159
    assert.equal("1", user.cookies:get "a")
    now = 160
    assert.is_nil(user.cookies:get "a")
  end)
  it("clears one or all", function()
    user.cookies:clear()
    user.cookies:set("a", "1")
    user.cookies:set("b", "2")
    user.cookies:clear "a"
    assert.is_nil(user.cookies:get "a")
    assert.equal("2", user.cookies:get "b")
    user.cookies:clear()
    assert.is_nil(user.cookies:get "b")
  end)
  it("says what is wrong", function()
    for text, call in pairs {
      ["user.cookies.get is called with a colon: user.cookies:get(...)"] = function() user.cookies.get("a") end,
      ["user.cookies:get(name): a cookie's name is a text without ; and =, not nil"] = function() user.cookies:get() end,
      ['user.cookies:set(name, value): a cookie\'s name is a text without ; and =, not "a=b"'] = function() user.cookies:set("a=b", "x") end,
      ["user.cookies:set: the value is a text without ;, not nil"] = function() user.cookies:set "a" end,
      ['user.cookies:set: the value is a text without ;, not "x;y"'] = function() user.cookies:set("a", "x;y") end,
      ["user.cookies:set: unknown key `pth`; did you mean `path`?"] = function() user.cookies:set("a", "b", { pth = "/" }) end,
      ['user.cookies:set: `path` begins with /, not "x"'] = function() user.cookies:set("a", "b", { path = "x" }) end,
      ["user.cookies:set: `domain` must be a text, not 5"] = function() user.cookies:set("a", "b", { domain = 5 }) end,
      ['user.cookies:set: h.example cannot set a cookie for the domain "other.example"'] = function() user.cookies:set("a", "b", { domain = "other.example" }) end,
      ['user.cookies:set: `max_age`: "soon" is not a duration; write 250ms, 30s, 5m, 1h or 1m30s'] = function() user.cookies:set("a", "b", { max_age = "soon" }) end,
      ['user.cookies:set: after the value comes a table: user.cookies:set("name", "value", { path = "/" }), not "/"'] = function() user.cookies:set("a", "b", "/") end,
      ["user.cookies:set takes a name, a value and a table"] = function() user.cookies:set("a", "b", {}, 1) end,
      ['user.cookies:get: "x" is not a URL; one begins with http:// or, to be appended to the target, with /'] = function() user.cookies:get("a", "x") end,
      ["user.cookies:clear takes a name, or nothing"] = function() user.cookies:clear("a", "b") end,
      ['user.cookies has no `sid`; a cookie\'s value is user.cookies:get("sid")'] = function() return user.cookies.sid end,
      ['user.cookies.sid cannot be assigned; write user.cookies:set("sid", value)'] = function() user.cookies.sid = 1 end,
    } do
      assert.equal(text, refused(call))
    end
  end)
  it("needs a host, and a scenario with cookies", function()
    start { cookies = false }
    assert.equal("user.cookies:set: the scenario has http = { cookies = false }", refused(function() user.cookies:set("a", "b") end))
    start()
    site.configure { {} }
    assert.equal('user.cookies:get: of which host? the scenario has no target; name it with url = "http://..."', refused(function() user.cookies:get "a" end))
  end)
end)
