-- Which globals a compiled chunk reads and assigns, found in its bytecode: a misspelt name in a function that runs once an hour is known before the
-- start. Operation codes differ between versions of LuaJIT and are looked up in chunks whose code is known.
local util = require "jit.util"

local globals = {}

local band, rshift = bit.band, bit.rshift
local funcbc, funcinfo, funck = util.funcbc, util.funcinfo, util.funck

local function operation(proto, pc)
  return band(funcbc(proto, pc), 0xff)
end

local READ = operation(load "return x", 1)
local MAKE_FUNCTION = operation(load "x = function() end", 1)
local ASSIGN = operation(load "x = function() end", 2)

local function name_at(proto, instruction)
  return funck(proto, -1 - rshift(instruction, 16))
end

local function add_uses(proto, uses)
  local pc, instruction = 1, funcbc(proto, 1)
  while instruction do
    local code = band(instruction, 0xff)
    if code == READ or code == ASSIGN then
      uses[#uses + 1] = {
        name = name_at(proto, instruction), line = funcinfo(proto, pc).currentline, assigns = code == ASSIGN,
        is_function = code == ASSIGN and operation(proto, pc - 1) == MAKE_FUNCTION,
      }
    end
    pc = pc + 1
    instruction = funcbc(proto, pc)
  end
end

local function walk(proto, uses)
  add_uses(proto, uses)
  local n = -1
  local constant = funck(proto, n)
  while constant ~= nil do
    if type(constant) == "proto" then walk(constant, uses) end
    n = n - 1
    constant = funck(proto, n)
  end
end

--- The uses of globals in a chunk and the functions in it, by line: a list of { name, line, assigns, is_function }.
function globals.uses(chunk)
  local uses = {}
  walk(chunk, uses)
  for i, use in ipairs(uses) do use.order = i end
  table.sort(uses, function(a, b) return a.line < b.line or (a.line == b.line and a.order < b.order) end)
  return uses
end

return globals
