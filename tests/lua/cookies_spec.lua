-- luabench.cookies against RFC 6265, section by section, and the examples of its section 3.1.
local core = require("core_stub").install()
local cookies = require "luabench.cookies"

local clock = 1000
core.now = function() return clock end

before_each(function() clock = 1000 end)

-- A jar that got these lines from a URL.
local function jar_of(url, ...)
  local jar = {}
  for _, line in ipairs { ... } do
    local cookie = cookies.parse(line)
    if cookie then cookies.put(jar, cookie, cookies.place(url)) end
  end
  return jar
end

local function put(jar, url, line) cookies.put(jar, cookies.parse(line), cookies.place(url)) end
local function sent(jar, url) return cookies.header(jar, cookies.place(url)) end

-- The seconds of a date that exists, from the system's own calendar.
local function utc(year, month, day, hour, minute, second)
  local noon = os.time { year = year, month = month, day = day, hour = 12, isdst = false }
  local there = os.date("!*t", noon)
  local shift = (there.hour - 12) * 3600 + there.min * 60 + (there.day - day) * 86400
  return os.time { year = year, month = month, day = day, hour = hour, min = minute, sec = second, isdst = false } - shift
end

describe("the examples of RFC 6265 3.1", function()
  it("session cookie", function()
    assert.equal("SID=31d4d96e407aad42", sent(jar_of("http://site.example/", "SID=31d4d96e407aad42"), "http://site.example/x"))
  end)
  it("path and domain", function()
    local jar = jar_of("http://www.example.com/a", "SID=31d4d96e407aad42; Path=/; Domain=example.com")
    assert.equal("SID=31d4d96e407aad42", sent(jar, "http://www.example.com/"))
    assert.equal("SID=31d4d96e407aad42", sent(jar, "http://other.example.com/y"))
    assert.equal("SID=31d4d96e407aad42", sent(jar, "http://example.com/"))
    assert.is_nil(sent(jar, "http://example.org/"))
    assert.is_nil(sent(jar, "http://badexample.com/"))
  end)
  it("several, Secure", function()
    local jar = jar_of("https://site.example/", "SID=31d4d96e407aad42; Path=/; Secure; HttpOnly", "lang=en-US; Path=/; Domain=site.example")
    assert.equal("SID=31d4d96e407aad42; lang=en-US", sent(jar, "https://site.example/"))
    assert.equal("lang=en-US", sent(jar, "http://site.example/"))
  end)
  it("removed by a date of the past", function()
    local jar = jar_of("http://site.example/", "SID=31d4d96e407aad42; Path=/", "lang=en-US; Expires=Wed, 09 Jun 2021 10:18:14 GMT", "lang=")
    put(jar, "http://site.example/", "lang=; Expires=Sun, 06 Nov 1994 08:49:37 GMT")
    assert.equal("SID=31d4d96e407aad42", sent(jar, "http://site.example/"))
  end)
end)

describe("cookies with the same attributes", function()
  it("belong to the place that each came from, and keep their own names", function()
    local jar = jar_of("http://a.example/x/y", "s=1; HttpOnly", "t=2; HttpOnly")
    for _, cookie in ipairs { "s=3; HttpOnly", "u=4; HttpOnly" } do put(jar, "http://b.example/z/", cookie) end
    put(jar, "http://a.example/x/y", "s=5; HttpOnly")
    assert.equal("s=5; t=2", sent(jar, "http://a.example/x/other"))
    assert.equal("s=3; u=4", sent(jar, "http://b.example/z/other"))
    assert.is_nil(sent(jar, "http://a.example/"))
  end)
end)

describe("Set-Cookie (5.2)", function()
  local function parsed(line)
    local cookie = cookies.parse(line)
    return cookie and { cookie.name, cookie.value, cookie.said.domain or false, cookie.said.path or false, cookie.said.secure or false, cookie.said.max_age or false }
  end
  it("is a name and a value, blanks trimmed", function()
    assert.same({ "a", "b", false, false, false, false }, parsed "a=b")
    assert.same({ "a", "b c", false, false, false, false }, parsed "  a \t=  b c \t; x")
    assert.same({ "a", "b=c", false, false, false, false }, parsed "a=b=c")
    assert.same({ "a", '"b"', false, false, false, false }, parsed 'a="b"')
    assert.same({ "a", "", false, false, false, false }, parsed "a=")
    assert.same({ "a", "b,c=d", false, false, false, false }, parsed "a=b,c=d")
  end)
  it("without a name or a = is nothing", function()
    for _, line in ipairs { "", "a", "=b", " =b", ";a=b", "; Path=/" } do assert.message(line).is_nil(parsed(line)) end
  end)
  it("with a control character but a tab is nothing (RFC 6265 bis, 5.6)", function()
    for _, c in ipairs { "\0", "\1", "\8", "\n", "\r", "\27", "\31", "\127" } do
      assert.is_nil(cookies.parse("a=b" .. c .. "c"))
      assert.is_nil(cookies.parse("a" .. c .. "=b"))
      assert.is_nil(cookies.parse("a=b; Path=/" .. c))
    end
    assert.equal("b\tc", cookies.parse("a=b\tc").value)
  end)
  it("has attributes in any case, of which the last one counts", function()
    assert.same({ "a", "b", "example.com", "/x", true, 5 }, parsed "a=b; DOMAIN=.Example.COM ;pAtH = /x;SECURE;Max-Age=5;HttpOnly;unknown=1;;")
    assert.same({ "a", "b", "b.example", "/y", false, 6 }, parsed "a=b; domain=a.example; domain=b.example; path=/x; path=/y; max-age=5; max-age=6")
    assert.same({ "a", "b", "a.example", false, true, 5 }, parsed "a=b; domain=a.example; domain=; path=/x; path=y; max-age=5; max-age=x; secure=no")
    assert.same({ "a", "b", false, false, false, -1 }, parsed "a=b; max-age=-1")
  end)
end)

describe("dates (5.1.1)", function()
  it("are read in the forms that are about", function()
    for text, expected in pairs {
      ["Mon, 10-Dec-2007 17:02:24 GMT"] = utc(2007, 12, 10, 17, 2, 24), ["Wed, 09 Dec 2009 16:27:23 GMT"] = utc(2009, 12, 9, 16, 27, 23),
      ["Thursday, 01-Jan-1970 00:00:00 GMT"] = 0, ["Mon Dec 24 16:32:39 1977 GMT"] = utc(1977, 12, 24, 16, 32, 39), ["Sunday, 06-Nov-94 08:49:37 GMT"] = 784111777,
      ["Sun Nov  6 08:49:37 1994"] = 784111777, ["Sun, 06 Nov 1994 08:49:37 GMT"] = 784111777, ["06 nov 1994 8:49:37"] = 784111777, ["1994 8:49:37 NOVember 6"] = 784111777,
      ["Tue, 19-Jan-2038 03:14:07"] = 2147483647, ["Thu, 10 Dec 2009 13:57:2 GMT"] = utc(2009, 12, 10, 13, 57, 2), ["29 Feb 2000 0:0:0"] = 951782400,
      ["1 Jan 69 00:00:00"] = utc(2069, 1, 1, 0, 0, 0), ["31/Dec/99 23:59:59"] = 946684799, ["Fri, 31-Dec-9999 23:59:59 GMT"] = 253402300799,
    } do
      assert.message(text).equal(expected, cookies.date(text))
    end
  end)
  it("that are none are refused", function()
    for _, text in ipairs { "", "x", "06 Nov 1994", "06 Nov 08:49:37", "Nov 1994 08:49:37", "32 Nov 1994 08:49:37", "29 Feb 1900 08:49:37", "06 Nov 1600 08:49:37", "06 Nov 1994 24:00:00",
                            "06 Nov 1994 08:60:37", "06 Nov 1994 08:49:60", "006 Nov 1994 08:49:37", "06 Nov 19940 08:49:37", "06 Nov 1994 08:49:377", "06 Nox 1994 08:49:37" } do
      assert.message(text).is_nil(cookies.date(text))
    end
  end)
end)

describe("domains (5.1.3)", function()
  it("match themselves and what lies below, but for addresses", function()
    assert.is_true(cookies.domain_matches("a.example", "a.example"))
    assert.is_true(cookies.domain_matches("b.a.example", "a.example"))
    assert.is_false(cookies.domain_matches("a.example", "b.a.example"))
    assert.is_false(cookies.domain_matches("ba.example", "a.example"))
    assert.is_false(cookies.domain_matches("127.0.0.1", "0.0.1"))
  end)
  it("that the host is not below are refused (5.3, step 6)", function()
    assert.same({}, jar_of("http://a.example/", "a=b; domain=other.example", "a=b; domain=b.a.example", "a=b; domain=example", "a=b; domain=ample"))
    assert.same({}, jar_of("http://127.0.0.1/", "a=b; domain=0.0.1", "a=b; domain=1"))
  end)
  it("are the host alone when there is none", function()
    local jar = jar_of("http://a.example/", "a=b")
    assert.equal("a=b", sent(jar, "http://a.example/"))
    assert.equal("a=b", sent(jar, "http://A.EXAMPLE:8080/"))
    assert.is_nil(sent(jar, "http://b.a.example/"))
  end)
  it("include what is below when they are named", function()
    local jar = jar_of("http://a.example/", "a=b; domain=A.example")
    assert.equal("a=b", sent(jar, "http://b.a.example/"))
  end)
  it("of local machines and addresses are the host alone", function()
    assert.equal("a=b", sent(jar_of("http://localhost:1/", "a=b; domain=localhost"), "http://localhost:2/"))
    assert.is_nil(sent(jar_of("http://localhost:1/", "a=b; domain=localhost"), "http://x.localhost/"))
    assert.equal("a=b", sent(jar_of("http://127.0.0.1/", "a=b; domain=127.0.0.1"), "http://127.0.0.1/"))
    assert.equal("a=b", sent(jar_of("http://[::1]/", "a=b"), "http://[::1]:8080/"))
  end)
end)

describe("paths (5.1.4)", function()
  it("match themselves and what lies below", function()
    for _, case in ipairs { { "/", "/", true }, { "/a", "/", true }, { "/a", "/a", true }, { "/a/", "/a", true }, { "/a/b", "/a", true }, { "/a/b", "/a/", true },
                            { "/ab", "/a", false }, { "/a", "/a/", false }, { "/", "/a", false }, { "/b/a", "/a", false }, { "/A", "/a", false } } do
      assert.message(case[1] .. " " .. case[2]).equal(case[3], cookies.path_matches(case[1], case[2]))
    end
  end)
  it("are made from the request's when there is none", function()
    for path, expected in pairs { ["/"] = "/", ["/a"] = "/", ["/a/"] = "/a", ["/a/b"] = "/a", ["/a/b/c?d=/e"] = "/a/b", [""] = "/" } do
      assert.message(path).equal(expected, jar_of("http://h" .. path, "a=b")[1].path)
    end
    assert.equal("/a", jar_of("http://h/a/b", "a=b; path=x")[1].path)
  end)
end)

describe("a jar", function()
  it("sends longer paths first, then older ones (5.4)", function()
    local jar = jar_of("http://h/a/b/c", "one=1; path=/", "two=2; path=/a/b", "three=3; path=/a", "four=4; path=/a/b", "five=5; path=/")
    assert.equal("two=2; four=4; three=3; one=1; five=5", sent(jar, "http://h/a/b/c"))
    assert.equal("one=1; five=5", sent(jar, "http://h/x"))
  end)
  it("replaces by name, domain and path, and keeps the place (5.3, step 11)", function()
    local jar = jar_of("http://h/", "a=1", "b=2", "a=3", "A=4", "a=5; path=/x")
    assert.equal("a=3; b=2; A=4", sent(jar, "http://h/"))
    assert.equal("a=5; a=3; b=2; A=4", sent(jar, "http://h/x"))
  end)
  it("forgets what has expired", function()
    local jar = jar_of("http://h/", "a=1; max-age=10", "b=2; max-age=20; expires=Thu, 01-Jan-1970 00:00:01 GMT", "c=3")
    assert.equal("a=1; b=2; c=3", sent(jar, "http://h/"))
    clock = 1010
    assert.equal("b=2; c=3", sent(jar, "http://h/"))
    assert.is_nil(cookies.get(jar, "a", cookies.place "http://h/"))
    assert.equal("2", cookies.get(jar, "b", cookies.place "http://h/"))
    clock = 1020
    assert.equal("c=3", sent(jar, "http://h/"))
    put(jar, "http://h/", "c=; max-age=0")
    assert.is_nil(sent(jar, "http://h/"))
    put(jar, "http://h/", "never=x; max-age=-5")
    assert.is_nil(sent(jar, "http://h/"))
  end)
  it("keeps a cookie until a date to come", function()
    local soon = os.date("!%a, %d %b %Y %H:%M:%S GMT", os.time() + 100)
    local jar = jar_of("http://h/", "a=1; expires=" .. soon)
    clock = 1090
    assert.equal("a=1", sent(jar, "http://h/"))
    clock = 1101
    assert.is_nil(sent(jar, "http://h/"))
  end)
  it("is bounded", function()
    local jar = {}
    for i = 1, 200 do put(jar, "http://h/", "c" .. i .. "=" .. i) end
    assert.equal(3 * 50, #jar)
    assert.equal("c151", jar[1].name)
    for i = 1, 4000 do put(jar, "http://h" .. i .. ".example/", "c=" .. i) end
    assert.equal(3 * 3000, #jar)
    put(jar, "http://big.example/", "a=" .. ("x"):rep(4095))
    assert.equal(4095, #cookies.get(jar, "a", cookies.place "http://big.example/"))
    put(jar, "http://big.example/", "b=" .. ("x"):rep(4096))
    assert.is_nil(cookies.get(jar, "b", cookies.place "http://big.example/"))
  end)
  it("loses the expired before others", function()
    local jar = {}
    put(jar, "http://h/", "old=1")
    put(jar, "http://h/", "short=1; max-age=1")
    for i = 1, 48 do put(jar, "http://h/", "c" .. i .. "=1") end
    clock = 1005
    put(jar, "http://h/", "new=1")
    assert.equal("1", cookies.get(jar, "old", cookies.place "http://h/"))
    assert.equal(3 * 50, #jar)
  end)
  it("is cleared by name or whole", function()
    local jar = jar_of("http://h/", "a=1", "b=2", "a=3; path=/x")
    cookies.clear(jar, "a")
    assert.equal("b=2", sent(jar, "http://h/x"))
    cookies.clear(jar)
    assert.same({}, jar)
  end)
  it("takes little memory", function()
    local jars = {}
    put({}, "http://h/", "session=x; path=/")
    collectgarbage()
    local before = collectgarbage "count"
    for i = 1, 1000 do
      jars[i] = {}
      put(jars[i], "http://h/", "session=" .. ("%024d"):format(i) .. "; path=/")
    end
    collectgarbage()
    assert.is_true((collectgarbage "count" - before) * 1024 / 1000 < 300)
  end)
end)
