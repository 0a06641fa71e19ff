-- luabench.core for tests of the Lua side alone: a plain table that answers as docs/core.md says and keeps what it was told.
local dkjson = require "dkjson"

local stub = {}

-- RFC 4648.
local function base64(text)
  local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  return (text:gsub(".?.?.?", function(three)
    if three == "" then return "" end
    local a, b, c = three:byte(1, 3)
    local n = a * 65536 + (b or 0) * 256 + (c or 0)
    local out = ""
    for i = 3, 0, -1 do
      local digit = math.floor(n / 64 ^ i) % 64
      out = out .. ((i > 3 - #three - 1) and alphabet:sub(digit + 1, digit + 1) or "=")
    end
    return out
  end))
end

--- Installs a fresh stub as luabench.core, and forgets all modules of luabench so that they load anew on top of it. Returns the core.
--- core.calls: everything that was called, as { name, arguments ... }; core.answer: what the next sends return.
function stub.install()
  for name in pairs(package.loaded) do
    if name:find("^luabench%.") then package.loaded[name] = nil end
  end
  local core = { VERSION = "9.9.9", root = "tests/lua/no-such-share", calls = {}, written = { "", "" }, json_null = dkjson.null }
  local function record(name, ...) core.calls[#core.calls + 1] = { name, ... } end

  -- the user that runs: its scenario, and its state when it has one
  core.user = nil
  function core.scenario()
    if core.user then return core.user.scenario, core.user.state end
  end
  function core.state(user, make)
    user = user or core.user
    if make ~= false and not user.state then user.state = {} end
    return user.state
  end
  function core.user_fields(read, write) core.user_read, core.user_write = read, write end

  -- the engine's own check has tests of its own
  function core.check_url(url)
    if url:find("[%c ]") then return "the URL contains a control character" end
    if url:find("://[/?:]") or url:find("://$") then return "the host is missing" end
  end

  function core.address(text)
    return text:find("^%d+%.%d+%.%d+%.%d+$") and 4 or text:find("^[%x:]*:[%x:]*$") and 6 or nil
  end
  core.refused = nil -- what check_http says
  function core.check_http(http)
    core.checked = http
    return core.refused
  end

  core.answer = { 200, true, nil, 5, "hello", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", "marks", nil, nil }
  function core.prepare(scenario, method, url, lines, name, host, accept, version)
    local why = core.check_url(url)
    if why then return nil, why end
    local prepared = { scenario = scenario, method = method, url = url, lines = lines, name = name, host = host, accept = accept, version = version }
    record("prepare", prepared)
    return prepared
  end
  function core.send(prepared, lines, body, timeout)
    record("send", prepared, lines, body, timeout)
    return unpack(core.answer, 1, 9)
  end
  function core.marks(marks) return { total = 0.0125, of = marks } end
  function core.version() return "1.1" end

  for _, name in ipairs { "sleep", "pace", "log" } do
    core[name] = function(...) record(name, ...) end
  end
  core.check, core.must = function() end, function() end
  for _, name in ipairs { "fail", "stop_user", "stop_run" } do
    core[name] = function(text)
      record(name, text)
      error({ ending = name, text = text }, 0)
    end
  end
  function core.now() return 12.5 end

  function core.json_encode(value)
    local ok, text = pcall(dkjson.encode, value)
    if ok then return text end
    return nil, "a value cannot be encoded"
  end
  function core.json_decode(text)
    local value, _, why = dkjson.decode(text, 1, dkjson.null)
    if value == nil then return nil, why end
    return value
  end
  function core.json_array(list) return setmetatable(list, { __jsontype = "array" }) end
  core.json_pretty = core.json_encode

  -- Tasks run at once, to their end.
  core.WAITS, core.Task = {}, { __index = {} }
  function core.spawn(f, ...)
    record("spawn", f, ...)
    local task = newproxy(true)
    local meta = getmetatable(task)
    for key, value in pairs(core.Task) do meta[key] = value end
    core.outcome = { pcall(f, ...) }
    return task
  end
  function core.task_wait(task, seconds)
    record("task_wait", task, seconds)
    return unpack(core.outcome)
  end
  function core.task_cancel(task) record("task_cancel", task) end
  function core.task_done() return true end
  function core.hold() end
  function core.deeper() end
  function core.deadline() end
  function core.memory_left() end
  function core.without_waiting(f, ...) return f(...) end
  function core.group_begin(name)
    record("group_begin", name)
    return 1
  end
  function core.group_end(number, good) record("group_end", number, good) end
  function core.error_text(problem)
    if type(problem) == "table" and not (getmetatable(problem) or {}).__tostring then return "an error that is a table was raised" end
    return tostring(problem)
  end
  function core.note_error(problem) return problem end

  core.random, core.random_int = math.random, math.random
  function core.random_exponential() return 1 end
  function core.random_text(length) return ("a"):rep(length) end
  function core.random_bytes(length) return ("\255"):rep(length) end
  function core.random_seed() end
  function core.random_unknown() return 4711 end

  function core.realpath(path)
    local pipe = io.popen(("realpath -e -- '%s' 2>/dev/null"):format(path:gsub("'", "'\\''")))
    local real = pipe:read("*l")
    pipe:close()
    if real then return real end
    return nil, "No such file or directory"
  end
  function core.folder() return nil end
  function core.file_kind(path)
    if not core.realpath(path) then return nil end
    return core.realpath(path .. "/.") and "directory" or "file"
  end
  function core.read_file(path)
    local file, why = io.open(path, "rb")
    if not file then return nil, (why:gsub("^.*: ", "")) end
    local text = file:read("*a")
    file:close()
    return text
  end
  function core.rows_open(...)
    record("rows_open", ...)
    return { rows = true }
  end
  function core.rows_exhausted() return {} end

  core.base64 = base64
  function core.cores() return 2 end
  function core.terminal() return nil end
  function core.write(fd, text)
    core.written[fd] = (core.written[fd] or "") .. text
    return true
  end
  package.loaded["luabench.core"] = core
  return core
end

--- Calls of one function of the core: a list of their arguments.
function stub.calls(core, name)
  local found = {}
  for _, call in ipairs(core.calls) do
    if call[1] == name then found[#found + 1] = { unpack(call, 2, 6) } end
  end
  return found
end

--- Writes a temporary Lua file; returns its path. Removed by stub.clean.
local made = {}
function stub.file(text, name)
  local folder = os.tmpname()
  os.remove(folder)
  local path = name and folder .. name or folder .. ".lua"
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  made[#made + 1] = path
  return path
end

function stub.clean()
  for _, path in ipairs(made) do os.remove(path) end
  made = {}
end

--- Runs `main.command` on a script's text; returns the command, what went to standard error, what went to standard output, and the path.
function stub.command(core, text, argv, role)
  local path = stub.file(text)
  local words = { path }
  for _, word in ipairs(argv or {}) do words[#words + 1] = word end
  core.written = { "", "" }
  local command = require("luabench.main").command(words, role or "control")
  return command, (core.written[2]:gsub(path:gsub("%p", "%%%0"), "script.lua")), core.written[1], path
end

return stub
