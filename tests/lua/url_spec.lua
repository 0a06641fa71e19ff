-- luabench.url: which words are URLs, how they are joined, what is percent-encoded.
require("core_stub").install()
local url = require "luabench.url"

describe("url.looks_like", function()
  it("knows URLs and HOST:PORT", function()
    for _, text in ipairs { "http://a", "https://a/b", "localhost:8080", "127.0.0.1:80/x", "[::1]:80", "[::1]", "a-b.example:1?x=1", "ftp://x" } do assert.is_true(url.looks_like(text), text) end
    for _, text in ipairs { "script.lua", "dir/script.lua", "plan", "localhost", "a:b", "", "C:" } do assert.is_false(url.looks_like(text), text) end
    assert.equal("http://a:1/x", url.with_scheme("a:1/x"))
    assert.equal("http://a", url.with_scheme("http://a"))
  end)
end)

describe("url.absolute and url.target", function()
  it("accept what can be requested", function()
    for _, text in ipairs { "http://a", "http://a:65535/b?c#d", "HTTP://A/", "http://[::1]:80/", "http://u:p@h:1/" } do assert.equal(text, (url.absolute(text))) end
    assert.equal("http://h/api/v1", url.target("http://h/api/v1///"))
    assert.equal("http://h", url.target("http://h/"))
  end)
  it("say what is wrong", function()
    for _, row in ipairs {
      { "127.0.0.1:80", 'write "http://127.0.0.1:80"' }, { "/x", "is not a URL" }, { "", "127.0.0.1:8080" }, { "ftp://a", "only http://" }, { "http://", "the host is missing" },
      { "http://:80/", "the host is missing" }, { "http://a/\r\nX: y", "control character" }, { 5, "must be a URL as a string, not 5" },
    } do
      local value, why = url.absolute(row[1])
      assert.is_nil(value)
      assert.truthy(why:find(row[2], 1, true), why)
    end
    assert.truthy(select(2, url.target("http://h/?a=1")):find("no query", 1, true))
  end)
end)

describe("url.resolve", function()
  it("puts one slash between target and path", function()
    assert.equal("https://h/api/v1/items", url.resolve("https://h/api/v1", "/items"))
    assert.equal("http://h/", url.resolve("http://h", "/"))
    assert.equal("http://other/x", url.resolve("http://h", "http://other/x"))
  end)
  it("says what is missing", function()
    assert.truthy(select(2, url.resolve(nil, "/x")):find("needs a target", 1, true))
    assert.truthy(select(2, url.resolve("http://h", "x")):find("begins with http:// or", 1, true))
    assert.truthy(select(2, url.resolve("http://h", nil)):find("must be a string, not nil", 1, true))
  end)
end)

describe("url.path", function()
  it("is the path alone", function()
    for _, row in ipairs { { "http://h", "/" }, { "http://h/a/b?c=/d", "/a/b" }, { "http://h?x", "/" }, { "http://u@h:1/a#b", "/a" } } do assert.equal(row[2], url.path(row[1])) end
  end)
end)

describe("url.query", function()
  it("encodes by RFC 3986, keys sorted, lists repeated", function()
    assert.equal("a=1&b=x%20y&c=1&c=2&d=true&%C3%A4=%26%3D%2B", url.query { b = "x y", a = 1, c = { 1, 2 }, d = true, ["ä"] = "&=+" })
    assert.equal("t=1700000000000000", url.query { t = 1.7e15 })
    assert.equal("t=1e%2B20", url.query { t = 1e20 })
    assert.equal("", url.query {})
  end)
  it("refuses what has no text", function()
    assert.truthy(select(2, url.query { a = function() end }):find("`a` must be a string", 1, true))
    assert.truthy(select(2, url.query { a = 0 / 0 }):find("not nan", 1, true))
    assert.truthy(select(2, url.query { "x" }):find("without a key", 1, true))
  end)
  it("is added before a fragment", function()
    assert.equal("/a?b=1", url.add_query("/a", "b=1"))
    assert.equal("/a?x&b=1#f", url.add_query("/a?x#f", "b=1"))
    assert.equal("/a?b=1", url.add_query("/a?", "b=1"))
    assert.equal("/a", url.add_query("/a", ""))
  end)
end)
