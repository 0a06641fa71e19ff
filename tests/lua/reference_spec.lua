-- luabench.reference: the tables of RFC 3986 5.4, and what servers make of references.
local reference = require "luabench.reference"

local BASE = "http://a/b/c/d;p?q"

-- RFC 3986 5.4.1 and 5.4.2, as a strict parser has it.
local EXAMPLES = {
  ["g:h"] = "g:h", ["g"] = "http://a/b/c/g", ["./g"] = "http://a/b/c/g", ["g/"] = "http://a/b/c/g/", ["/g"] = "http://a/g", ["//g"] = "http://g",
  ["?y"] = "http://a/b/c/d;p?y", ["g?y"] = "http://a/b/c/g?y", ["#s"] = "http://a/b/c/d;p?q#s", ["g#s"] = "http://a/b/c/g#s", ["g?y#s"] = "http://a/b/c/g?y#s",
  [";x"] = "http://a/b/c/;x", ["g;x"] = "http://a/b/c/g;x", ["g;x?y#s"] = "http://a/b/c/g;x?y#s", [""] = "http://a/b/c/d;p?q", ["."] = "http://a/b/c/",
  ["./"] = "http://a/b/c/", [".."] = "http://a/b/", ["../"] = "http://a/b/", ["../g"] = "http://a/b/g", ["../.."] = "http://a/", ["../../"] = "http://a/",
  ["../../g"] = "http://a/g",
  ["../../../g"] = "http://a/g", ["../../../../g"] = "http://a/g", ["/./g"] = "http://a/g", ["/../g"] = "http://a/g", ["g."] = "http://a/b/c/g.", [".g"] = "http://a/b/c/.g",
  ["g.."] = "http://a/b/c/g..", ["..g"] = "http://a/b/c/..g", ["./../g"] = "http://a/b/g", ["./g/."] = "http://a/b/c/g/", ["g/./h"] = "http://a/b/c/g/h",
  ["g/../h"] = "http://a/b/c/h", ["g;x=1/./y"] = "http://a/b/c/g;x=1/y", ["g;x=1/../y"] = "http://a/b/c/y", ["g?y/./x"] = "http://a/b/c/g?y/./x",
  ["g?y/../x"] = "http://a/b/c/g?y/../x", ["g#s/./x"] = "http://a/b/c/g#s/./x", ["g#s/../x"] = "http://a/b/c/g#s/../x", ["http:g"] = "http:g",
}

describe("reference.join", function()
  it("does what RFC 3986 5.4 shows", function()
    local count = 0
    for text, expected in pairs(EXAMPLES) do
      assert.message(text).equal(expected, reference.join(BASE, text))
      count = count + 1
    end
    assert.equal(42, count)
  end)
  it("joins to a URL without a path", function()
    assert.equal("http://a/g", reference.join("http://a", "g"))
    assert.equal("http://a?y", reference.join("http://a", "?y"))
    assert.equal("http://b/c?../d", reference.join("http://a/x", "//b/../x/../c?../d"))
  end)
  it("takes URLs in the query for what they are", function()
    assert.equal("http://a/b/x?u=http://c/../d", reference.join("http://a/b/c", "x?u=http://c/../d"))
    assert.equal("http://a:80/login?back=/x:y", reference.join("http://a:80/x", "/login?back=/x:y"))
  end)
end)

describe("reference.split", function()
  it("gives scheme, host, port, path", function()
    local function split(text) return { reference.split(text) } end
    assert.same({ "http", "a.example", "80", "/" }, split "HTTP://A.Example")
    assert.same({ "https", "a", "443", "/b/c" }, split "https://u:p@a/b/c?d#e")
    assert.same({ "http", "[::1]", "8080", "/" }, split "http://[::1]:8080?x")
    assert.same({ "http", "[::1]", "80", "/x" }, split "http://[::1]/x")
    assert.same({ "http", "a", "81", "/" }, split "http://a:81")
  end)
end)

describe("reference.userinfo", function()
  it("is decoded", function()
    assert.same({ "me", "a:b" }, { reference.userinfo "http://me:a%3Ab@h/x" })
    assert.same({ "me", "" }, { reference.userinfo "http://me@h" })
    assert.is_nil(reference.userinfo "http://h/a@b")
    assert.is_nil(reference.userinfo "http://h?a@b")
  end)
end)

describe("reference.repair", function()
  it("encodes what cannot stand in a URL alone", function()
    assert.equal('/a%20b/%C3%A4?x="%22', reference.repair '/a b/\195\164?x="%22')
    assert.equal("/a%20b%0D%0A%25", reference.repair "/a b\r\n%25")
  end)
end)

describe("reference.without_password", function()
  it("hides a password", function()
    assert.equal("http://me:***@h/x:y@z", reference.without_password "http://me:secret@h/x:y@z")
    assert.equal("http://me:***@h", reference.without_password "http://me:a:b@c@h")
    assert.equal("http://me@h/a:b@c", reference.without_password "http://me@h/a:b@c")
    assert.equal("http://h:80/a@b", reference.without_password "http://h:80/a@b")
  end)
end)
