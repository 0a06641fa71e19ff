-- What scripts and the command line ask for. The input is a program for a builder of tables: keys of a scenario, of its `http` or of a request's options, values good
-- and bad; or, when it begins with "-", the words of a command line, one a line. What comes of it is a message in words, or a plan that the core reads: with users, times
-- and rates within the bounds that are promised. Options of requests come out as a head that no value can break out of.
local core = require "luabench.core"
core.write = function() return true end
local errors = require "luabench.errors"
local headers = require "luabench.headers"
local main = require "luabench.main"
local options = require "luabench.options"
local plan = require "luabench.plan"
local scenario = require "luabench.scenario"
local schema = require "luabench.schema"
local stage = require "luabench.stage"
local url = require "luabench.url"

-- Building -------------------------------------------------------------------------------------------------------------

local TEXTS = {
  "", "10s", "1m30s", "-1s", "250ms", "1e9", "1e10", "0x10", "nan", "inf", "10k", "5M", "100/s", "600/m", "64KiB", "open", "constant", "poisson", "queue", "drop", "auto",
  "http://127.0.0.1:8080", "https://h.example/a", "http://[::1]:1/", "http://h:99999/", "/x", "1.1", "2", "h.example:80:127.0.0.1", "127.0.0.1", "a:b", "X-A", "a\r\nB: c",
  "\0", "\27[31m", "é", "200", "2xx", "bearer", "\n", "{id}", "a=b", "http.errors: rate < 1%", "checks: rate > 99%", "Host", "Cookie", "Content-Length", "1.3",
}
local NUMBERS = { 0, 1, -1, 2, 10, 0.5, 1e6, 1e7, 1e7 + 1, 1e9, 1e9 + 1, 2 ^ 53, 1e300, -0.0, 1 / 0, -1 / 0, 0 / 0, 1e-9, 255, 65536 }
local WORDS = { "level", "over", "hold", "users", "rate", "of", "user", "password", "bearer", "digest", "name", "value", "file", "type", "url", "port", "address", "host", "id", "x-a" }

local function keys_of(rows)
  local keys = {}
  for i, row in ipairs(rows) do keys[i] = row[1] end
  return keys
end

local KEYS = { scenario = keys_of(schema.scenario), http = keys_of(schema.http), request = keys_of(schema.request) }

local builder = {}
builder.__index = builder

function builder:next()
  self.at = self.at + 1
  return self.input:byte(self.at) or 0
end

function builder:pick(list) return list[1 + self:next() % #list] end

function builder:text()
  local length = self:next() % 40
  local text = self.input:sub(self.at + 1, self.at + length)
  self.at = self.at + length
  return text
end

function builder:list(depth)
  local list = {}
  for i = 1, self:next() % 4 do list[i] = self:value(depth + 1) end
  return list
end

function builder:map(depth)
  local map = {}
  for _ = 1, self:next() % 4 do map[self:next() % 2 == 0 and self:pick(WORDS) or self:pick(TEXTS)] = self:value(depth + 1) end
  return map
end

function builder:value(depth)
  local kind = self:next() % 10
  if kind <= 1 then return self:pick(NUMBERS) end
  if kind <= 4 then return self:pick(TEXTS) end
  if kind == 5 then return self:text() end
  if kind == 6 then return self:next() % 2 == 0 end
  if kind == 7 then return function() end end
  if depth > 3 then return core.json_null end
  return kind == 8 and self:list(depth) or self:map(depth)
end

function builder:options(kind)
  local values = {}
  for _ = 1, self:next() % 8 do
    local key = self:pick(KEYS[kind])
    values[key] = key == "http" and self:next() % 4 > 0 and self:options "http" or self:value(0)
  end
  return values
end

-- Checking -------------------------------------------------------------------------------------------------------------

-- A message for people. What a script wrote may be in it as it was: main.lua makes it harmless.
local function check_message(text)
  assert(type(text) == "string" and text ~= "" and #text < 4000, "a message of no use")
  assert(not text:find("lua/luabench", 1, true), "an error of ours: " .. text)
end

-- Calls `use`; what it returns, or nil when it ended with a message for people.
local function attempt(use, ...)
  local arguments = { ... }
  local ok, result = xpcall(function() return use(unpack(arguments)) end, function(value)
    if errors.is_usage(value) then return value.text end
    local text = tostring(value)
    return text:find("fuzz/options.lua:", 1, true) and text or debug.traceback(text, 2) -- errors.script names the line of the script: here it is this file
  end)
  if ok then return result end
  check_message(result)
end

local function check_plan(command)
  local scenarios = fuzz.plan(command)
  assert(#scenarios == #command.scenarios)
  for _, each in ipairs(scenarios) do
    assert(each.users >= 0 and each.users <= 1e7, "users")
    assert(each.duration > 0 and each.timeout > 0 and each.timeout <= 1e9, "times")
    assert(#each.stages >= 1)
    for _, level in ipairs(each.stages) do assert(level >= 0 and level <= 1e9, "a level") end
  end
end

local function run() end

local function check_scenario(build)
  scenario.reset()
  stage.loading, stage.role = true, "worker"
  local of_defaults, values = build:next() % 3 == 0 and build:options "scenario" or nil, build:options "scenario"
  if build:next() % 8 > 0 then values.run = run end
  local command = attempt(function()
    if of_defaults then scenario.defaults(of_defaults) end
    scenario.define "one" (values)
    return plan.make(scenario.finish "script.lua", { args = {}, words = {} })
  end)
  if command then check_plan(command) end
end

local function check_head(map)
  local lines, host = headers.render(map)
  assert(not (host or ""):find("[\r\n%z]"))
  local rest = lines:gsub("[^\r\n%z:]+: [^\r\n%z]*\r\n", "")
  assert(rest == "", "a header line that is none: " .. lines)
end

local function check_request(build)
  local values = build:options "request"
  local read, why = options.read("request", values)
  if not read then return check_message(why) end
  if read.headers then check_head(read.headers) end
  if read.query then
    local text, problem = url.query(read.query)
    if text then assert(not text:find("[^%w%-%._~=&%%]")) else check_message(problem) end
  end
end

local function check_words(input)
  local words = { "http://127.0.0.1:1/" }
  for word in input:gmatch("[^\n]+") do words[#words + 1] = word:gsub("%z", "") end
  local command = main.command(words, "worker", "")
  if command.action == "run" then return check_plan(command) end
  assert(command.status == 0 or command.status == 2, command.text)
  if command.status == 2 then assert(command.text ~= "" and not command.text:find("[%z\1-\8\11-\31\127]"), command.text) end
end

return function(input)
  if input:sub(1, 1) == "-" then return check_words(input) end
  local build = setmetatable({ input = input, at = 0 }, builder)
  if build:next() % 4 == 0 then return check_request(build) end
  check_scenario(build)
end
