-- A worker's side of a script of wrk's: what the control state calls before the run and after it (core.thread_call), and the iteration that its users run.
-- One iteration is what one call of request() asks for, and its answers.
local api = require "luabench.wrk.api"
local core = require "luabench.core"
local environment = require "luabench.wrk.env"
local script = require "luabench.wrk.script"
local sender = require "luabench.wrk.sender"

local thread = {}

local type, tostring, rawget = type, tostring, rawget
local sleep, stop_user, log = core.sleep, core.stop_user, core.log

local SCENARIO = 1

local stopped = false
local address -- what thread.addr is, or nil
local step    -- one iteration

-- Headers of responses -------------------------------------------------------------------------------------------------

-- Names are as the server has spelt them, which over HTTP/2 is in lower case: another spelling finds them, too.
local any_case = {}
function any_case.__index(fields, name)
  if type(name) ~= "string" then return nil end
  local wanted = name:lower()
  for each, value in next, fields do
    if each:lower() == wanted then return value end
  end
end

local OFTEN = 32 -- a head that came so often in a row is worth a function that makes its table
local last_head, times, make

local function constructor(fields)
  local parts = {}
  for name, value in next, fields do parts[#parts + 1] = ("[%q]=%q"):format(name, value) end
  return load("return function() return {" .. table.concat(parts, ",") .. "} end")()
end

local function fields_of(head)
  if head == last_head then
    if make then return setmetatable(make(), any_case) end
    times = times + 1
    if times == OFTEN then make = constructor(core.raw_fields(head)) end
  else
    last_head, times, make = head, 0, nil
  end
  return setmetatable(core.raw_fields(head), any_case)
end

-- Iterations -----------------------------------------------------------------------------------------------------------

local function answer(response, status, head, body)
  if status ~= 0 and not stopped then response(status, fields_of(head), body) end
end

-- Of several requests in one text: a list with three fields for each.
local function answer_all(env, list)
  for i = 1, #list, 3 do
    if list[i] ~= 0 and not stopped then env.response(list[i], fields_of(list[i + 1]), list[i + 2]) end
  end
end

local said_idle = false

-- request() gave nothing: wrk's connection would wait for ever. The user leaves, and that is said once.
local function nothing_to_send(text)
  if type(text) == "number" then return tostring(text) end
  if not said_idle then
    log("warn", ("request() returned %s: that connection has nothing more to send and ends"):format(text == "" and "an empty text" or type(text)))
    said_idle = true
  end
  stop_user()
end

local function wait(env)
  local ms = tonumber(env.delay()) or 0
  if ms >= 1 then sleep(math.floor(ms) / 1000) end
end

-- The iteration for what the script defines: text of a fixed request, or nil.
local function make_step(env, send, fixed, wanted, delays)
  return function()
    if stopped then stop_user() end
    if delays then
      wait(env)
      if stopped then stop_user() end
    end
    local text = fixed or env.request()
    if text == "" or type(text) ~= "string" then text = nothing_to_send(text) end
    local status, head, body
    repeat status, head, body = send(text, wanted) until status
    if not wanted then return end
    if type(status) == "table" then answer_all(env, status) else answer(env.response, status, head, body) end
  end
end

--- The scenario's `run`.
function thread.run()
  return step()
end

-- Called by the control state ------------------------------------------------------------------------------------------

local function own_thread(env)
  return api.thread {
    get = function(name) return rawget(env, name) end,
    set = function(name, value) env[name] = value end,
    stop = thread.stop,
    address = function() return address end,
    move = function(object) thread.move(api.place(object)) end,
  }
end

local function start(current)
  local env, wrk = current.env, current.wrk
  local dynamic = type(env.request) == "function"
  if not dynamic and type(wrk.request) ~= "function" then error("wrk.init has left no wrk.request, and there is no function request()", 0) end
  local wanted = type(env.response) == "function"
  local fixed = nil
  if not dynamic then fixed = tostring(wrk.request()) end
  local send = sender.new(SCENARIO, current, not dynamic)
  step = make_step(env, send, fixed, wanted, type(env.delay) == "function")
end

--- wrk.thread is there from here on; its address, when one is known.
function thread.attach(host, port)
  address = host and api.address(host, port)
  script.current.wrk.thread = own_thread(script.current.env)
end

--- Calls wrk.init, and finds which functions the script has. Returns what went wrong, or nil.
function thread.init()
  local current = script.current
  environment.print_directly(true)
  local why = script.try(current.wrk.init, current.args) or script.try(start, current)
  environment.print_directly(false)
  return why
end

--- The one request that is made before the run and never sent. Returns what is wrong with it, or nil.
function thread.verify()
  local env = script.current.env
  return script.try(function()
    local make = type(env.request) == "function" and env.request or script.current.wrk.request
    local text = make()
    if text == nil or text == "" then error("request() returned nothing to send, at its first call", 0) end
    if type(text) ~= "string" and type(text) ~= "number" then error("request() must return a text, not a " .. type(text), 0) end
    core.raw_count(tostring(text))
  end)
end

--- The value of a global of the script.
function thread.get(name) return rawget(script.current.env, name) end

--- Sets a global of the script.
function thread.set(name, value) script.current.env[name] = value end

--- No further request is sent by this thread.
function thread.stop() stopped = true end

--- Connections that are opened from now on go there.
function thread.move(host, port)
  address = api.address(host, port)
  core.connect_to(SCENARIO, host, port)
end

return thread
