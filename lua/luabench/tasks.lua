-- spawn(f, ...): several lines of work of one user, each with its own requests under way; and http.batch, which is made of them.
local core = require "luabench.core"
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"
local stage = require "luabench.stage"
local units = require "luabench.units"

local tasks = {}

local show = errors.show
local core_spawn, task_wait, task_cancel, task_done = core.spawn, core.task_wait, core.task_cancel, core.task_done
local type, error, select, pcall, pairs, getmetatable = type, error, select, pcall, pairs, getmetatable

--- spawn(f, ...): f begins when this line of work waits for something; returns a task.
function tasks.spawn(f, ...)
  if stage.loading then stage.refuse("spawn") end
  if type(f) ~= "function" then errors.script("spawn(f, ...) takes a function and its arguments, not %s", show(f)) end
  return core_spawn(f, ...)
end

local function outcome(good, ...)
  if good then return ... end
  if good == nil then return nil, ... end
  core.note_error((...))
  error((...), 0)
end

local function check_task(task, call)
  if type(task) ~= "userdata" or getmetatable(task) ~= "task" then errors.script("task:%s() is called with a colon: task:%s()", call, call) end
end

local methods = {}

--- task:wait(timeout): what the task's function has returned; its error is raised here. nil, "timeout" when the time is over first; nil, "cancelled".
function methods.wait(task, timeout, extra)
  check_task(task, "wait")
  if extra ~= nil then errors.script("task:wait(timeout) takes one duration") end
  if timeout == nil then return outcome(task_wait(task)) end
  local seconds, why = units.duration(timeout)
  if not seconds then errors.script("task:wait: %s", why) end
  return outcome(task_wait(task, seconds))
end

--- task:cancel(): ends it; its requests are counted as interrupted.
function methods.cancel(task, extra)
  check_task(task, "cancel")
  if extra ~= nil then errors.script("task:cancel() takes no argument") end
  task_cancel(task)
end

local FIELDS = { wait = true, cancel = true, done = true }

core.Task.__index = function(task, key)
  if key == "done" then return task_done(task) end
  local method = methods[key]
  if method then return method end
  errors.script("a task has no field %s%s", errors.field(key), nearest.hint(key, FIELDS))
end
core.Task.__newindex = function(_, key) errors.script("task.%s cannot be assigned", tostring(key)) end
core.Task.__metatable = "task"

-- Batches -------------------------------------------------------------------------------------------------------------

local LIMIT = 6
local FORM = 'http.batch { "/a.css", { method = "POST", url = "/b", json = { n = 1 } } }'

local function check_batch(list, opts, extra)
  if stage.loading then stage.refuse("http.batch") end
  if type(list) ~= "table" or list.url ~= nil or extra ~= nil then errors.script("http.batch takes a list of requests and options: %s", FORM) end
  for key, value in pairs(list) do
    if type(key) ~= "number" or key < 1 or key > #list then errors.script("http.batch: %s is no part of the list: %s", show(type(key) == "string" and key or value), FORM) end
    if type(value) ~= "string" and type(value) ~= "table" then errors.script("http.batch: request %d must be a URL or a table, not %s", key, show(value)) end
  end
  if opts ~= nil and type(opts) ~= "table" then errors.script("http.batch: the options must be a table, not %s; write { limit = 6 }", show(opts)) end
  for key in pairs(opts or {}) do
    if key ~= "limit" then errors.script("http.batch: unknown key `%s`%s", tostring(key), nearest.hint(key, { limit = true })) end
  end
end

local function read_limit(opts)
  if not opts or opts.limit == nil then return LIMIT end
  local limit, why = units.count(opts.limit)
  if not limit then errors.script("http.batch: `limit`: %s", why) end
  return limit
end

-- The texts of our own errors have no line when they are raised in a task, where no line of the script is: it is that of the call.
local function raise(problem)
  if type(problem) ~= "string" or problem:find("^[^%s:]+:%d+: ") then error(problem, 0) end
  errors.script("http.batch: %s", problem)
end

--- Makes http.batch: `get(url)` and `request(table)` are the functions that send one.
function tasks.batch(get, request)
  local function send(item)
    if type(item) == "string" then return get(item) end
    return request(item)
  end
  return function(list, opts, extra)
    check_batch(list, opts, extra)
    local count, next_one, answers, workers = #list, 0, {}, {}
    local function work()
      while next_one < count do
        next_one = next_one + 1
        local i = next_one
        answers[i] = send(list[i])
      end
    end
    for i = 1, math.min(read_limit(opts), count) do workers[i] = core_spawn(work) end
    for i = 1, #workers do
      local good, problem = pcall(methods.wait, workers[i])
      if not good then
        for k = i + 1, #workers do task_cancel(workers[k]) end
        raise(problem)
      end
    end
    return answers
  end
end

return tasks
