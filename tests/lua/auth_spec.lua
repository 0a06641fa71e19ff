-- luabench.auth against the examples of RFC 7617, 6750, 7616 and 2617; the digests of SHA-256 come from sha256sum.
local stub = require "core_stub"
local core = stub.install()
local auth = require "luabench.auth"
local md5 = require "luabench.md5"

local base64 = core.base64
core.sha256 = function(text)
  local path = stub.file(text)
  local pipe = assert(io.popen("sha256sum " .. path))
  local hex = pipe:read "*l":match "^%x+"
  pipe:close()
  return (hex:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end))
end

teardown(stub.clean)

describe("md5", function()
  it("does what RFC 1321 A.5 shows", function()
    for text, digest in pairs {
      [""] = "d41d8cd98f00b204e9800998ecf8427e", a = "0cc175b9c0f1b6a831c399e269772661", abc = "900150983cd24fb0d6963f7d28e17f72",
      ["message digest"] = "f96b697d7cb7938d525a2f31aaf161d0", abcdefghijklmnopqrstuvwxyz = "c3fcd3d76192e4007dfb496cca67e13b",
      ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 = "d174ab98d277d9f5a5611c2c9f419d9f", [("1234567890"):rep(8)] = "57edf4a22be3c955ac49da2e2107b67a",
    } do
      assert.message(text).equal(digest, md5(text))
    end
  end)
  it("goes over the ends of blocks as md5sum does", function()
    for _, length in ipairs { 55, 56, 57, 63, 64, 65, 119, 120, 1000 } do
      local text = ("x"):rep(length)
      local pipe = assert(io.popen("md5sum " .. stub.file(text)))
      assert.message(length).equal(pipe:read "*l":match "^%x+", md5(text))
      pipe:close()
    end
  end)
end)

describe("auth.read", function()
  it("makes basic credentials", function()
    assert.same({ scheme = "basic", value = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==" }, auth.read { "Aladdin", "open sesame" }) -- RFC 7617 2
    assert.same({ scheme = "basic", value = "Basic dGVzdDoxMjPCow==" }, auth.read { "test", "123\194\163" }) -- RFC 7617 2.1
    assert.equal("Basic " .. base64 "5:1700000000000000", auth.read({ 5, 1.7e15 }).value)
    assert.equal("Basic " .. base64 "a:", auth.read({ "a", "" }).value)
    assert.equal("Basic " .. base64 "a:b:c", auth.read({ "a", "b:c" }).value)
    assert.equal("basic", auth.read({ "a", "b", digest = false }).scheme)
  end)
  it("makes bearer tokens", function()
    assert.same({ scheme = "bearer", value = "Bearer mF_9.B5f-4.1JqM" }, auth.read { bearer = "mF_9.B5f-4.1JqM" }) -- RFC 6750 2.1
  end)
  it("keeps what digests are made of, and takes false for none", function()
    assert.same({ scheme = "digest", user = "a:x", password = "b" }, auth.read { "a:x", "b", digest = true })
    assert.is_false(auth.read(false))
  end)
  it("says what is wrong", function()
    for _, case in ipairs {
      { "x", 'must be a table, not "x"; write auth = { user, password } or { bearer = token }' }, { true, "must be a table, not true" }, { {}, "user and password are two texts" },
      { { "a" }, "two texts" }, { { "a", "b", "c" }, "two texts" }, { { "a", {} }, "the password must be a text, not a table" }, { { true, "b" }, "the user must be a text, not true" },
      { { "", "b" }, "the user is empty" }, { { "a\n", "b" }, "the user contains a control character" }, { { "a:b", "c" }, "the user has a colon" },
      { { bearer = "" }, "the token is empty; was it read from where it should be?" }, { { bearer = 5 == 5 }, "the token must be a text, not true" },
      { { bearer = "a b" }, "the token has a character that no bearer token has (RFC 6750)" }, { { bearer = "a", "b" }, "a token stands alone: { bearer = token }" },
      { { "a", "b", digset = true }, "unknown key `digset`; did you mean `digest`?" }, { { token = "a" }, "unknown key `token`" },
      { { "a", "b", digest = "md5" }, '`digest` must be true or false, not "md5"' },
    } do
      local value, why = auth.read(case[1])
      assert.is_nil(value)
      assert.message(why).truthy(why:find(case[2], 1, true))
    end
  end)
end)

-- The parameters of a Digest header.
local function parameters(text)
  local found = {}
  for key, value in text:gmatch '([%w]+)="?([^",]*)"?' do found[key] = value end
  return found
end

describe("digests", function()
  local CNONCE = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
  local LINES = {
    'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"',
    'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"',
  }
  local function answer(lines, password, cnonce)
    return auth.answer(auth.challenge(lines), "Mufasa", password, "GET", "/dir/index.html", cnonce)
  end
  it("are those of RFC 7616 3.9.1", function()
    local sha = answer(LINES, "Circle of Life", CNONCE)
    assert.equal("753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1", parameters(sha).response)
    assert.equal("8ca523f5e9506fed4657c9700eebdbec", parameters(answer({ LINES[2] }, "Circle of Life", CNONCE)).response)
    assert.equal('Digest username="Mufasa", realm="http-auth@example.org", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", uri="/dir/index.html", '
      .. 'response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1", algorithm=SHA-256, opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", '
      .. 'qop=auth, nc=00000001, cnonce="' .. CNONCE .. '"', sha)
  end)
  it("are those of RFC 2617 3.5", function()
    local header = answer({ 'Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"' },
      "Circle Of Life", "0a4f113b")
    assert.equal("6629fae49393a05397450978507c4ef1", parameters(header).response)
    assert.is_nil(header:find("algorithm", 1, true))
  end)
  it("without qop are those of RFC 2069", function()
    local header = answer({ 'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"' }, "CircleOfLife")
    local expected = md5(md5 "Mufasa:testrealm@host.com:CircleOfLife" .. ":dcd98b7102dd2f0e8b11d0f600bfb0c093:" .. md5 "GET:/dir/index.html")
    assert.equal("1949323746fe6a43ef61f9606e7febea", md5(md5 "Mufasa:testrealm@host.com:CircleOfLife" .. ":dcd98b7102dd2f0e8b11d0f600bfb0c093:" .. md5 "GET:/dir/index.html"))
    assert.equal(expected, parameters(header).response)
    assert.is_nil(header:find("cnonce", 1, true))
  end)
  it("count, and have a nonce of their own each", function()
    local challenge = auth.challenge(LINES)
    local first, second = auth.answer(challenge, "a", "b", "GET", "/"), auth.answer(challenge, "a", "b", "GET", "/")
    assert.equal("00000001", parameters(first).nc)
    assert.equal("00000002", parameters(second).nc)
    assert.not_equal(parameters(first).cnonce, parameters(second).cnonce)
  end)
  it("of a session", function()
    local challenge = auth.challenge { 'Digest realm="r", nonce="n", algorithm=MD5-sess, qop=auth' }
    local header = auth.answer(challenge, "u", "p", "GET", "/", "c")
    local secret = md5(md5 "u:r:p" .. ":n:c")
    assert.equal(md5(secret .. ":n:00000001:c:auth:" .. md5 "GET:/"), parameters(header).response)
  end)
  it("quote what must be quoted", function()
    local challenge = auth.challenge { 'Digest realm="a \\"b\\" \\\\", nonce=n' }
    assert.equal('a "b" \\', challenge.realm)
    assert.truthy(auth.answer(challenge, 'u"', "p", "GET", "/"):find('username="u\\"", realm="a \\"b\\" \\\\", nonce="n"', 1, true))
  end)
end)

describe("auth.challenge", function()
  it("finds one among others", function()
    local challenge = auth.challenge { 'Negotiate, Basic realm="x, Digest nonce=y", NTLM TlRMTVNTUAAC==, digest NONCE="n" , stale=TRUE ,qop="auth" ', "Digest nonce=other" }
    assert.same({ "n", true, "auth", "" }, { challenge.nonce, challenge.stale, challenge.qop, challenge.realm })
  end)
  it("passes over what it cannot answer", function()
    assert.is_nil(auth.challenge {})
    for _, line in ipairs { "", "Basic realm=x", "Digest", "Digest realm=x", 'Digest nonce=n, qop="auth-int"', "Digest nonce=n, algorithm=SHA-512-256", ",,,", '"', 'Digest nonce="' } do
      local challenge = auth.challenge { line }
      assert.message(line).is_true(challenge == nil or (line == 'Digest nonce="' and challenge.nonce == ""))
    end
    assert.equal("b", auth.challenge({ "Digest nonce=a, algorithm=SHA-512-256, Digest nonce=b, algorithm=md5" }).nonce)
  end)
end)
