-- The options of connections: their forms, in scripts and on the command line, what is said when they are wrong, and what the core gets.
local stub = require "core_stub"

local core
before_each(function() core = stub.install() end)
after_each(stub.clean)

local function has(text, part) assert.message(text).truthy(text:find(part, 1, true)) end

-- The `http` of the plan for a script's `http` and options of the command line.
local function http_of(http, argv)
  local command, err = stub.command(core, ('scenario "x" { target = "https://h", http = { %s }, run = function() end }'):format(http), argv)
  assert.message(err).equal("run", command.action)
  return command.scenarios[1].http
end

local function refused(http, argv)
  local command, err = stub.command(core, ('scenario "x" { target = "https://h", http = { %s }, run = function() end }'):format(http), argv)
  assert.same({ "exit", 2 }, { command.action, command.status })
  return err
end

describe("versions", function()
  it("of HTTP", function()
    for value, version in pairs { ['"1.1"'] = "1.1", ["1.1"] = "1.1", ["2"] = "2", ['"2"'] = "2", ['"auto"'] = "auto" } do
      assert.equal(version, http_of("version = " .. value).version)
    end
    assert.equal("2", http_of('version = "1.1"', { "--http", "2" }).version)
    has(refused("version = 3"), 'is no version; write "1.1", "2" or "auto"')
    has(refused("", { "--http", "http2" }), "--http")
  end)
  it("of TLS", function()
    local http = http_of('min_tls = "1.2", max_tls = 1.3')
    assert.same({ 12, 13 }, { http.min_tls, http.max_tls })
    assert.equal(10, http_of("min_tls = 1.0").min_tls)
    has(refused('min_tls = "1.4"'), "is no version of TLS")
    has(refused('min_tls = "1.3", max_tls = "1.2"'), "`min_tls` is above `max_tls`")
    has(refused('cacert = "ca.pem"'), "here it is called `ca`")
    has(refused("tls = { insecure = true }"), "these stand here themselves: insecure, ca")
    has(refused("keep_alive = false, requests_per_connection = 3"), "is one request on a connection")
    has(refused('version = "2", max_tls = "1.1"'), "`version` asks for HTTP/2, which needs TLS 1.2")
  end)
end)

describe("certificates", function()
  it("in a script are beside it, on the command line where they are", function()
    local folder = (os.tmpname():match("^(.*)/"))
    local http = http_of('ca = "ca.pem", cert = "/abs/c.pem", key = "k/k.pem"', { "-A" })
    assert.same({ folder .. "/ca.pem", "/abs/c.pem", folder .. "/k/k.pem" }, { http.ca, http.cert, http.key })
    http = http_of('ca = "ca.pem", cert = "c.pem", key = "k.pem"', { "--cacert", "other.pem", "--cert", "mine.pem" })
    assert.same({ "other.pem", "mine.pem", nil }, { http.ca, http.cert, http.key })
  end)
  it("are read with leave, as other files are", function()
    for _, key in ipairs { "ca", "cert", "key", "unix_socket" } do
      has(refused(('%s = "/abs/x"'):format(key)), ('scenario "x": http: `%s`: "/abs/x": a script may read below its own folder alone; --allow-read=/abs gives leave'):format(key))
    end
    has(refused('ca = "/proc/self/mem"', { "--allow-read" }), 'http: `ca`: "/proc/self/mem": nothing below /proc, /sys and /dev can be read without -A')
    assert.equal("/abs/x", http_of('ca = "/abs/x"', { "-A" }).ca)
  end)
  it("and insecure replace each other on the command line, and contradict each other in one place", function()
    assert.same({ true, nil }, { http_of('ca = "ca.pem"', { "-k" }).insecure, nil })
    assert.is_nil(http_of('ca = "ca.pem"', { "-k" }).ca)
    assert.is_false(http_of("insecure = true", { "--cacert", "x" }).insecure)
    has(refused('insecure = true, ca = "x"'), "`insecure` takes any certificate, `ca` says whose")
    has(refused("", { "-k", "--cacert", "x" }), "-k takes any certificate")
    has(refused('key = "x"'), "`cert` is missing")
  end)
  it("that cannot be used end the command with what the core says", function()
    core.refused = "ca: cannot read x"
    has(refused('ca = "x"'), 'script.lua:1: scenario "x": http: ca: cannot read x')
    core = stub.install()
    core.refused = "ca: cannot read x"
    assert.equal(2, require("luabench.main").command({ "https://h", "--cacert", "x" }, "control").status)
    assert.equal("luabench: --cacert: cannot read x\n", core.written[2])
    assert.equal("run", require("luabench.main").command({ "https://h", "--cacert", "x" }, "worker").action)
  end)
end)

describe("SNI", function()
  it("is a name", function()
    assert.equal("www.example.com", http_of('sni = "www.example.com"').sni)
    assert.equal("b", http_of('sni = "a"', { "--sni", "b" }).sni)
    for _, wrong in ipairs { "127.0.0.1", "::1", "[::1]", "a:443", "a b", "" } do refused(('sni = %q'):format(wrong)) end
    has(refused('sni = "127.0.0.1"'), "is an address; SNI sends names alone")
  end)
end)

describe("connect_to", function()
  local function rule(text)
    local each = http_of(("connect_to = %q"):format(text)).connect_to[1]
    return { each.from_host or "-", each.from_port, each.host or "-", each.port }
  end
  it("has curl's forms", function()
    assert.same({ "a.example", 443, "127.0.0.1", 8443 }, rule "A.example:443:127.0.0.1:8443")
    assert.same({ "-", 0, "b", 1 }, rule "::b:1")
    assert.same({ "a", 0, "b", 0 }, rule "a::b:")
    assert.same({ "-", 443, "-", 8443 }, rule ":443::8443")
    assert.same({ "::1", 1, "fe80::2", 2 }, rule "[::1]:1:[fe80::2]:2")
  end)
  it("may be a list, and the command line replaces it", function()
    assert.equal(2, #http_of('connect_to = { "a:1:b:2", "c:3:d:4" }').connect_to)
    local list = http_of('connect_to = "a:1:b:2"', { "--connect-to", "e:5:f:6", "--connect-to", "g:7:h:8" }).connect_to
    assert.same({ "e", "g" }, { list[1].from_host, list[2].from_host })
  end)
  it("must be right", function()
    for _, wrong in ipairs { "", "a", "a:1", "a:1:b", "a:1:b:x", "a:0:b:1", "a:1:b:70000", "a:1:b:2:c", "::1:2:3:4:5", "[a]:1:b:2" } do
      refused(("connect_to = %q"):format(wrong))
    end
    has(refused("connect_to = {}"), "the list is empty")
    has(refused("", { "--connect-to", "a:1" }), "is not HOST1:PORT1:HOST2:PORT2")
  end)
end)

describe("resolve", function()
  it("has curl's forms", function()
    local list = http_of('resolve = { "A:443:127.0.0.1,[::1]", "*:80:::1", "+b:1:127.0.0.2" }').resolve
    assert.same({ "a", 443, { "127.0.0.1", "::1" } }, { list[1].host, list[1].port, list[1].addresses })
    assert.same({ 80, { "::1" } }, { list[2].port, list[2].addresses })
    assert.is_nil(list[2].host)
    assert.equal("b", list[3].host)
  end)
  it("must be right", function()
    for _, wrong in ipairs { "a", "a:1", "a:1:", "a::127.0.0.1", "a:1:b", "a:1:127.0.0.1,", ":1:127.0.0.1" } do refused(("resolve = %q"):format(wrong)) end
    has(refused('resolve = "a:1:b"'), "is not an IP address")
  end)
end)

describe("proxy", function()
  it("is a URL with a port", function()
    local proxy = http_of('proxy = "http://us%65r:p%40ss@Proxy.example:3128/"').proxy
    assert.same({ "proxy.example", 3128, "user:p@ss" }, { proxy.host, proxy.port, proxy.userinfo })
    proxy = http_of("", { "--proxy", "[::1]:80" }).proxy
    assert.same({ "::1", 80 }, { proxy.host, proxy.port })
    assert.is_nil(proxy.userinfo)
  end)
  it("must be right, and keeps its password to itself", function()
    for _, wrong in ipairs { "", "a", "http://a", "http://:80", "http://a:0", "http://a:1/x" } do refused(("proxy = %q"):format(wrong)) end
    has(refused('proxy = "socks5://a:1"'), "only http:// proxies")
    local command = require("luabench.main").command({ "http://h", "--proxy", "http://me:secret@p:1" }, "control")
    assert.equal("http://***@p:1", command.options.proxy)
  end)
end)

describe("where connections go", function()
  it("is said once", function()
    for _, pair in ipairs { 'proxy = "a:1", connect_to = "a:1:b:2"', 'unix_socket = "x", proxy = "a:1"', 'unix_socket = "x", resolve = "a:1:127.0.0.1"' } do
      has(refused(pair), "both say where connections go: use one")
    end
    has(refused("", { "-4", "-6" }), "-4 and -6 leave no address")
  end)
  it("reaches the core", function()
    assert.equal(4, http_of("", { "-4" }).family)
    assert.equal(6, http_of("", { "--ipv6" }).family)
    assert.is_nil(http_of("").family)
    assert.is_true(http_of("").tls)
    assert.equal("/run/x", http_of("", { "--unix-socket", "/run/x" }).unix_socket)
    assert.same({ "127.0.0.2", "::1" }, http_of('source_addresses = "127.0.0.3"', { "--source-address", "127.0.0.2", "--source-address", "::1" }).source_addresses)
    has(refused('source_addresses = "eth0"'), "is not an IP address")
  end)
end)
