-- The warning about locals of the file that users assign: all users of a thread share them, which is nearly always a mistake. Assignments are found in the bytecode of
-- the functions that can be reached from `run` and `on_start`. In `setup`, which runs in one thread, it is an error: the other threads would not see it.
local core = require "luabench.core"
local errors = require "luabench.errors"
local stage = require "luabench.stage"
local terminal = require "luabench.terminal"
local util = require "jit.util"

local shared = {}

local band, rshift = bit.band, bit.rshift
local funcbc, funcinfo, funck, funcuvname = util.funcbc, util.funcinfo, util.funck, util.funcuvname
local getupvalue, getinfo = debug.getupvalue, debug.getinfo

-- Operation codes differ between versions of LuaJIT and are looked up in functions whose code is known.
local STORES = {}
for _, value in ipairs { "v", "'s'", "1", "nil" } do
  local inner = funck(load("local x return function(v) x = " .. value .. " end"), -1)
  STORES[band(funcbc(inner, 1), 0xff)] = true
end

-- Calls visit(name, line) for every assignment to an upvalue in a function and in the functions written inside it.
local function each_store(proto, visit)
  local pc, instruction = 1, funcbc(proto, 1)
  while instruction do
    if STORES[band(instruction, 0xff)] then visit(funcuvname(proto, band(rshift(instruction, 8), 0xff)), funcinfo(proto, pc).currentline) end
    pc = pc + 1
    instruction = funcbc(proto, pc)
  end
  local n = -1
  local constant = funck(proto, n)
  while constant ~= nil do
    if type(constant) == "proto" then each_store(constant, visit) end
    n = n - 1
    constant = funck(proto, n)
  end
end

-- What the function has of the file: the names, and the functions among the values, those in tables too.
local function upvalues_of(func)
  local names, functions = {}, {}
  for i = 1, 255 do
    local name, value = getupvalue(func, i)
    if not name then break end
    names[name] = true
    if type(value) == "function" then functions[#functions + 1] = value end
    if type(value) == "table" and not debug.getmetatable(value) then
      for _, each in next, value do
        if type(each) == "function" then functions[#functions + 1] = each end
      end
    end
  end
  return names, functions
end

-- Adds to `found` the assignments that can be reached from `func`, in functions of the chunk `source`.
local function search(func, source, found, visited)
  if visited[func] then return end
  visited[func] = true
  if getinfo(func, "S").source ~= source then return end
  local names, functions = upvalues_of(func)
  each_store(func, function(name, line)
    if names[name] and not found[name] then found[name] = line end
  end)
  for _, each in ipairs(functions) do search(each, source, found, visited) end
end

-- List of { name, line } by line, of what is assigned by the functions of a scenario that `keys` names.
local function assigned(values, keys, source)
  local found, visited, list = {}, {}, {}
  for _, key in ipairs(keys) do
    if type(values[key]) == "function" then search(values[key], source, found, visited) end
  end
  for name, line in pairs(found) do list[#list + 1] = { name = name, line = line } end
  table.sort(list, function(a, b) return a.line < b.line end)
  return list
end

local SETUP = "%s:%d: `setup` assigns the local `%s` of the file, but it runs in one thread and the others do not see that; return the value instead: what setup " ..
  "returns is the second parameter of run"
local WARNING = "luabench: warning: %s:%d: the local `%s` of the file is assigned while users run, and all users of a thread share it; what belongs to one user goes " ..
  "into user.vars.%s\n"

--- Looks through the scenarios of a script that was loaded from `path`: warns once for each local, and ends the command for one that setup assigns.
function shared.check(path, scenarios)
  local source, warned = "@" .. path, {}
  for _, each in ipairs(scenarios) do
    local first = assigned(each.values, { "setup" }, source)[1]
    if first then errors.usage(SETUP, path, first.line, first.name) end
    for _, store in ipairs(assigned(each.values, { "run", "on_start" }, source)) do
      if not warned[store.name] and stage.role == "control" then core.write(2, terminal.lines(WARNING:format(path, store.line, store.name, store.name))) end
      warned[store.name] = true
    end
  end
end

return shared
