-- Quick mode: what the command line makes of URLs, lists of them, placeholders, headers and forms; and what is said when it is wrong.
local stub = require "core_stub"

local core
before_each(function() core = stub.install() end)
after_each(stub.clean)

local function command(argv) return require("luabench.main").command(argv, "control") end

local function refused(argv)
  core.written[2] = ""
  local result = command(argv)
  assert.message(core.written[2]).same({ "exit", 2 }, { result.action, result.status })
  return core.written[2]
end

local function has(text, part) assert.message(text).truthy(text:find(part, 1, true)) end

-- What the first `count` iterations send: method, URL, body, further lines.
local function sent(argv, count)
  local plan = command(argv)
  assert.message(core.written[2]).equal("run", plan.action)
  core.user = { scenario = 1 }
  for i = 1, count do plan.scenarios[1].run { sequence = i } end
  local list = {}
  for i, call in ipairs(stub.calls(core, "send")) do
    list[i] = { method = call[1].method, url = call[1].url, name = call[1].name, all = call[1].lines .. (call[2] or ""), body = call[3] }
  end
  return list, plan
end

describe("placeholders", function()
  it("stand in URL, header and body, with one value in a request", function()
    core.random_int = function(a, b) return a + b end
    local list = sent({ "http://h/{seq}?r={rand:1-6}&u={uuid}", "-b", '{"u":"{uuid}","r":{rand:1-6},"n":{seq}}', "-H", "X-U: <{uuid}>", "-H", "x-u: two", "-H", "X-Other: 1" }, 2)
    for i, request in ipairs(list) do
      local uuid = request.url:match("^http://h/" .. i .. "%?r=7&u=([%x%-]+)$")
      assert.message(request.url).truthy(uuid and #uuid == 36)
      assert.equal(('{"u":"%s","r":7,"n":%d}'):format(uuid, i), request.body)
      has(request.all, "X-Other: 1\r\n")
      has(request.all, ("X-U: <%s>\r\n"):format(uuid))
      has(request.all, "two\r\n")
      assert.same({ "POST", "POST /{seq}" }, { request.method, request.name })
    end
  end)
  it("of a line take the next one of the file, encoded in a URL", function()
    local lines, at = { "a b", "c/d?e", "\195\188#" }, 0
    core.rows_open = function() return { next = function() at = at % 3 + 1 return lines[at] end } end
    local path = stub.file("x")
    local list = sent({ "http://h/{line:" .. path .. "}", "-b", "{line:" .. path .. "}" }, 3)
    assert.same({ "http://h/a%20b", "http://h/c/d?e", "http://h/%C3%BC#" }, { list[1].url, list[2].url, list[3].url })
    assert.same(lines, { list[1].body, list[2].body, list[3].body })
  end)
  it("are not made of other braces", function()
    for _, text in ipairs { '{"a":{"b":1}}', "{}", "{id}", "query{user(id:1){name}}", "{set}", "{a:{b}}", "{ seq }", "{seq" } do
      core = stub.install()
      local list = sent({ "http://h/", "-b", text }, 1)
      assert.same({ text, "http://h/" }, { list[1].body, list[1].url })
    end
    core = stub.install()
    local list = sent({ "http://h/{seq}", "-b", "{uuid}", "-H", "A: {rnd:1}", "--literal" }, 1)
    assert.same({ "{uuid}", "http://h/{seq}" }, { list[1].body, list[1].url })
    has(list[1].all, "A: {rnd:1}\r\n")
  end)
  it("say what is wrong with them", function()
    has(refused { "http://h/{rnd:1-6}" }, "{rnd:1-6} is no placeholder; did you mean {rand:1-1000}?")
    has(refused { "http://h/", "-b", "{UUID}" }, "-b: {UUID} is no placeholder; did you mean {uuid}?")
    has(refused { "http://h/", "-H", "A: {rand:6-1}" }, "-H: {rand:6-1}: the smaller number comes first")
    has(refused { "http://h/{rand}" }, "needs two whole numbers; write {rand:1-1000} (--literal sends")
    has(refused { "http://h/{seq:1}" }, "takes no more than its name")
    has(refused { "http://h/{line:}" }, "needs the path of a file")
    has(refused { "http://h/{line:/no/such/file}" }, "cannot be read: No such file or directory")
    has(refused { "http://{seq}/" }, "host and port cannot have placeholders")
  end)
  it("cost nothing where there are none", function()
    local list = sent({ "http://h/a" }, 2)
    assert.equal("GET", list[1].method)
    local calls = stub.calls(core, "send")
    assert.equal(calls[1][1], calls[2][1]) -- prepared once
    assert.is_nil(calls[1][2])
  end)
end)

describe("several URLs", function()
  it("take turns over all users", function()
    local list, plan = sent({ "http://h/a", "h:1/b", "https://i/c" }, 4)
    assert.same({ "http://h/a", "http://h:1/b", "https://i/c", "http://h/a" }, { list[1].url, list[2].url, list[3].url, list[4].url })
    assert.same({ "3 URLs", "https://i" }, { plan.scenarios[1].name, plan.scenarios[1].target })
  end)
  it("or are drawn", function()
    core.random_int = function(_, b) return b end
    local list = sent({ "http://h/a", "http://h/b", "--order", "random" }, 2)
    assert.same({ "http://h/b", "http://h/b" }, { list[1].url, list[2].url })
  end)
  it("come from a file, as vegeta has them", function()
    local path = stub.file("\239\187\191# all\n\nGET http://h/a\nX-Own: 1\r\n\n  h:1/b  \nPURGE http://h/c\nPOST http://h/d\nContent-Type: text/x\nx-common: own\n", ".txt")
    local list = sent({ "--urls", path, "-H", "X-Common: 2", "-b", "common", "-X", "put" }, 4)
    local got = {}
    for i, request in ipairs(list) do got[i] = request.method .. " " .. request.url .. " " .. tostring(request.body) end
    assert.same({ "GET http://h/a common", "PUT http://h:1/b common", "PURGE http://h/c common", "POST http://h/d common" }, got)
    has(list[1].all, "X-Own: 1\r\n")
    has(list[2].all, "X-Common: 2\r\n")
    has(list[4].all, "Content-Type: text/x\r\n")
    assert.falsy(list[4].all:find("X-Common: 2", 1, true))
  end)
  it("say where the file is wrong", function()
    local function with(text) return refused { "--urls", stub.file(text, ".txt") } end
    has(with "http://h/\n\nnonsense here\n", "line 3: \"nonsense here\" is not a URL")
    has(with "X-A: b\nhttp://h/\n", "line 1: the header \"X-A: b\" stands before the first URL")
    has(with "http://h/\n@/no/such/file\n", "line 2: cannot read /no/such/file")
    has(with "http://h/\nContent-Length: 3\n", "line 1: header `content-length` is made from the body")
    has(with "ftp://h/\n", "line 1: \"ftp://h/\": only http:// and https://")
    has(with "http://h/{rand:2-1}\n", "line 1: {rand:2-1}: the smaller number comes first")
    has(with "# nothing\n", "there is no URL in")
    has(refused { "--urls", "/no/such/file" }, "--urls: cannot read /no/such/file: No such file")
  end)
end)

describe("forms", function()
  it("are multipart, with files and placeholders in values", function()
    local path = stub.file("{seq} of a file", ".txt")
    local list = sent({ "http://h/", "-F", "a={seq}", "-F", "b=x=y", "-F", "c=@" .. path .. ";type=text/plain;filename=n.txt" }, 2)
    local boundary = list[2].all:match("Content%-Type: multipart/form%-data; boundary=(%S+)\r\n")
    local function part(head, text) return ("--%s\r\nContent-Disposition: form-data; name=%s\r\n\r\n%s\r\n"):format(boundary, head, text) end
    assert.equal(part('"a"', "2") .. part('"b"', "x=y") .. part('"c"; filename="n.txt"\r\nContent-Type: text/plain', "{seq} of a file") .. "--" .. boundary .. "--\r\n", list[2].body)
    assert.equal("POST", list[1].method)
  end)
  it("say what is wrong with them", function()
    has(refused { "http://h/", "-F", "a" }, '-F: "a" is neither NAME=VALUE nor NAME=@FILE')
    has(refused { "http://h/", "-F", "a=@" }, "which file? write a=@FILE")
    has(refused { "http://h/", "-F", "a=@/no/such/file" }, "-F: cannot read /no/such/file")
    has(refused { "http://h/", "-F", "a=@f;kind=x" }, '";kind=x" is neither ;type=TYPE nor ;filename=NAME')
    has(refused { "http://h/", "-F", "a=@/dev/null;type=text" }, "is no media type")
  end)
end)

describe("options that contradict each other", function()
  local CASES = {
    { "-b", { "-b", "x" }, "-f", { "-f", "FILE" } }, { "-b", { "-b", "x" }, "-F", { "-F", "a=1" } }, { "-f", { "-f", "FILE" }, "-F", { "-F", "a=1" } },
    { "-F", { "-F", "a=1" }, "-H", { "-H", "content-type: x" } }, { "--urls", { "--urls", "FILE" }, "http://h/", {} }, { "-4", { "-4" }, "-6", { "-6" } },
    { "-k", { "-k" }, "--cacert", { "--cacert", "FILE" } }, { "-m", { "-m", "2" }, "HTTP/1.1", { "--http", "1.1" } }, { "-m", { "-m", "2" }, "--no-keepalive", { "--no-keepalive" } },
    { "--quiet", { "--quiet" }, "--interval", { "--interval", "1" } }, { "--debug", { "--debug" }, "--dry-run", { "--dry-run" } },
    { "--json", { "--json" }, "--report", { "--report", "wrk" } }, { "--no-keepalive", { "--no-keepalive" }, "--requests-per-connection", { "--requests-per-connection", "2" } },
    { "--stages", { "--stages", "1/1s" }, "-c", { "-c", "2" } }, { "--stages", { "--stages", "1/1s" }, "-d", { "-d", "2" } }, { "--stages", { "--stages", "1/1s" }, "-R", { "-R", "2" } },
    { "--rate-stages", { "--rate-stages", "1/1s" }, "-R", { "-R", "2" } }, { "--ramp-up", { "--ramp-up", "1" }, "-R", { "-R", "2" } },
    { "--stages", { "--stages", "1/1s" }, "--rate-stages", { "--rate-stages", "1/1s" } }, { "--lenient-http", { "--lenient-http" }, "--http 2", { "--http", "2" } },
    { "--unix-socket", { "--unix-socket", "/s" }, "-4", { "-4" } }, { "--unix-socket", { "--unix-socket", "/s" }, "--proxy", { "--proxy", "http://p:1" } },
    { "--unix-socket", { "--unix-socket", "/s" }, "--connect-to", { "--connect-to", "h:1:i:2" } }, { "--proxy", { "--proxy", "http://p:1" }, "--connect-to", { "--connect-to", "h:1:i:2" } },
  }
  it("are errors that name both", function()
    local path = stub.file("http://h/x\n", ".txt")
    for _, case in ipairs(CASES) do
      core = stub.install()
      local argv = { "http://h/" }
      for _, list in ipairs { case[2], case[4] } do
        for _, word in ipairs(list) do argv[#argv + 1] = word == "FILE" and path or word end
      end
      local text = refused(argv)
      has(text, case[1])
      has(text, case[3])
    end
  end)
  it("or say what they are for", function()
    has(refused { "http://h", "--order", "random" }, "--order says how several URLs take turns, and there is one")
    has(refused { "http://h", "http://i", "--order", "none" }, '"none" is no order; there are sequence and random')
    has(refused { "http://h", "word" }, '"word" is not a URL; a script comes first')
    has(refused { "http://h", "-e", "A=1" }, "-e passes a variable to a script, and there is none")
    has(refused { "http://h", "--rounds", "7" }, "--rounds is for comparisons")
    local script = stub.file('scenario "a" { run = function() end }')
    for _, words in ipairs { { "-F", "a=1" }, { "--urls", "x" }, { "--order", "random" }, { "--literal" } } do
      has(refused { script, unpack(words) }, words[1] .. " says what quick mode requests")
    end
  end)
end)
