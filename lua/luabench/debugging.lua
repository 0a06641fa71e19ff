-- --debug: one iteration of one user of each scenario, every request and response printed whole on standard error, as scripts and servers made them. What must not be
-- seen is *** (secrets.lua). It wraps the functions of the core, so it has to be installed before other modules take them.
local core = require "luabench.core"
local format = require "luabench.format"
local reference = require "luabench.reference"
local secrets = require "luabench.secrets"
local stage = require "luabench.stage"
local terminal = require "luabench.terminal"

local debugging = {}

local STDERR = 2

local prepared_of = setmetatable({}, { __mode = "k" }) -- prepared → { method, url, lines, host }
local parts_of = setmetatable({}, { __mode = "k" })    -- upload → list of texts and files
local requests = 0

local function write(lines) core.write(STDERR, table.concat(lines, "\n") .. "\n") end

-- What is written -------------------------------------------------------------------------------------------------------

local CREDENTIALS = { authorization = true, ["proxy-authorization"] = true }

local function masked_value(name, value)
  if CREDENTIALS[name] then return (value:match("^%S+ ") or "") .. secrets.value(value:match("^%S+ (.*)$") or value) end
  if name == "cookie" then return (value:gsub("=([^;]*)", function(each) return "=" .. secrets.value(each) end)) end
  if name == "set-cookie" then return (value:gsub("^([^=;]*=)([^;]*)", function(key, each) return key .. secrets.value(each) end)) end
  return value
end

local function masked(line)
  local name, value = line:match("^([^:%s]+):%s*(.*)$")
  if name then line = name .. ": " .. masked_value(name:lower(), value) end
  return terminal.escape(secrets.mask(line))
end

local function add_head(out, mark, text)
  for line in text:gmatch("([^\r\n]+)\r?\n") do out[#out + 1] = mark .. " " .. masked(line) end
end

-- Control characters would make a mess of the terminal, and are shown as \xNN.
local function add_body(out, text)
  if text == "" then return end
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do out[#out + 1] = terminal.escape(secrets.mask((line:gsub("\r$", "")))) end
  if text:sub(-1) == "\n" then out[#out] = nil end
end

local function add_upload(out, upload)
  for _, part in ipairs(parts_of[upload] or {}) do
    if type(part) == "string" then add_body(out, part) else out[#out + 1] = "(a file)" end
  end
end

local function host_of(request)
  local authority = request.url:match("^%a[%w+.-]*://([^/?#]*)") or ""
  return request.host or authority:gsub("^.*@", "")
end

local function show_request(request, lines, body)
  requests = requests + 1
  local target = request.url:match("^%a[%w+.-]*://[^/?#]*([^#]*)")
  local out = { "", ("-- %d: %s"):format(requests, terminal.escape(secrets.mask(reference.without_password(request.url)))) }
  out[#out + 1] = "> " .. terminal.escape(secrets.mask(request.method .. " " .. (target:sub(1, 1) == "/" and target or "/" .. target)))
  add_head(out, ">", "Host: " .. host_of(request) .. "\r\n" .. request.lines .. (lines or ""))
  if type(body) == "string" then
    out[#out + 1] = "> Content-Length: " .. #body
    add_body(out, body)
  elseif body then
    add_upload(out, body)
  end
  write(out)
  return requests
end

local function show_response(number, status, _, error_name, size, body, head, marks, more_marks, text)
  local out = {}
  if status == 0 then
    out[1] = ("< %d: %s (%s)"):format(number, error_name, terminal.escape(secrets.mask(text or "")))
  else
    add_head(out, "<", head)
    out[1] = ("%s  (%d, after %s, %s)"):format(out[1] or "<", number, format.duration(core.marks(marks, more_marks).total), format.counted(size, "byte"))
    add_body(out, body)
  end
  write(out)
end

-- Installing ------------------------------------------------------------------------------------------------------------

local function shown(number, ...)
  show_response(number, ...)
  return ...
end

--- Makes the core show what it sends and receives. Before other modules are loaded.
function debugging.install()
  stage.debug = true
  local prepare, send, upload = core.prepare, core.send, core.upload
  function core.prepare(scenario, method, url, lines, name, host, ...)
    local prepared, why = prepare(scenario, method, url, lines, name, host, ...)
    if prepared then prepared_of[prepared] = { method = method, url = url, lines = lines or "", host = host } end
    return prepared, why
  end
  function core.upload(parts)
    local made = upload(parts)
    parts_of[made] = parts
    return made
  end
  function core.send(prepared, lines, body, ...)
    local number = show_request(prepared_of[prepared], lines, body)
    return shown(number, send(prepared, lines, body, ...))
  end
  function core.log(_, text) core.write(STDERR, terminal.lines(secrets.mask(text)) .. "\n") end
end

-- The plan and its end --------------------------------------------------------------------------------------------------

local LOAD = { "users", "duration", "iterations", "iterations_per_user", "ramp_up", "stages", "rate", "arrivals", "min_users", "max_users", "overflow", "start_after", "warm_up",
               "connections" }

--- The keys of a scenario as one iteration of one user.
function debugging.reduce(values)
  for _, key in ipairs(LOAD) do values[key] = nil end
  values.users, values.iterations = 1, 1
end

local function count(number, word) return number > 0 and format.counted(number, word) or nil end

local function summary_of(scenario)
  local iterations = scenario.iterations
  local outcome = iterations.completed > 0 and "completed" or iterations.failed > 0 and "failed" or "interrupted"
  return ('scenario "%s": iteration %s, %s'):format(terminal.escape(scenario.name), outcome, count(scenario.total.started, "request") or "no request")
end

--- What is said at the end in place of the report; the exit status.
function debugging.finish(results)
  local out, status = { "" }, 0
  for _, scenario in ipairs(results.scenarios) do
    out[#out + 1] = summary_of(scenario)
    if scenario.iterations.completed == 0 then status = 1 end
  end
  for _, check in ipairs(results.checks or {}) do
    local why = check.fails > 0 and check.why and " (" .. check.why .. ")" or ""
    out[#out + 1] = ("  %s %s%s"):format(check.fails > 0 and "✗" or "✓", terminal.escape(check.name), terminal.escape(secrets.mask(why)))
  end
  write(out)
  if results.unbalanced then return 70 end
  if results.interrupted then return 130 end
  if results.stuck or results.stopped or results.setup_failed then return 3 end
  return status
end

return debugging
