-- Lua's coroutines for scripts. What waits inside a coroutine of the script's own yields a mark of the core first (core.WAITS), which is not for whoever has resumed the
-- coroutine: the wrapper of resume passes it on, up to the core, and the answer back down. A coroutine that waits so cannot be resumed by anybody else meanwhile.
local core = require "luabench.core"

local coroutines = {}

local create, resume, yield, running, isyieldable = coroutine.create, coroutine.resume, coroutine.yield, coroutine.running, coroutine.isyieldable
local WAITS, hold, deeper = core.WAITS, core.hold, core.deeper
local type, error, setmetatable = type, error, setmetatable

local own = setmetatable({}, { __mode = "k" })     -- coroutines that scripts have made
local waiting = setmetatable({}, { __mode = "k" }) -- those that wait for the core

local pass

local function answer(co, ...)
  waiting[co] = nil
  return pass(co, resume(co, ...))
end

-- What resume has returned: results for the caller, or a wait for the core.
function pass(co, good, first, ...)
  if good and first == WAITS then
    waiting[co] = true
    return answer(co, yield(WAITS))
  end
  return good, first, ...
end

local function release(...)
  hold(-1)
  return ...
end

--- coroutine.resume
function coroutines.resume(co, ...)
  if waiting[co] then return false, "cannot resume a coroutine that waits for the answer to a request or for its sleep to end" end
  deeper()
  if isyieldable() or not running() then return pass(co, resume(co, ...)) end
  hold(1) -- inside table.sort and the like: nothing below can wait either
  return release(resume(co, ...))
end

--- coroutine.create
function coroutines.create(f)
  local co = create(f)
  own[co] = true
  return co
end

local function results(good, ...)
  if good then return ... end
  error((...), 0)
end

--- coroutine.wrap
function coroutines.wrap(f)
  local co = coroutines.create(f)
  return function(...) return results(coroutines.resume(co, ...)) end
end

--- coroutine.yield
function coroutines.yield(...)
  if not own[running()] then error("attempt to yield outside of a coroutine", 2) end
  return yield(...)
end

--- The functions for a script's `coroutine`.
function coroutines.library()
  return { create = coroutines.create, resume = coroutines.resume, wrap = coroutines.wrap, yield = coroutines.yield, status = coroutine.status,
    running = running, isyieldable = isyieldable }
end

return coroutines
