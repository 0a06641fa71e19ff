-- Prints the examples of the manual for test_manual.py: NAME, "run", "check", "dry" or "later", and the script, each ended by a zero byte. "check": a key, whose load is not to be run; "dry": a comparison, whose targets are not there.
package.path = "lua/?.lua;" .. package.path

local manual = require "luabench.manual"
local later = require "luabench.later"

local LATER = { Scenario = later.scenario_keys, HttpOptions = later.http_keys, RequestOptions = later.request_keys, Response = later.response_fields }

local function is_later(entry)
  local last = entry.name:match("[^.:]*$")
  local set = LATER[entry.section.class]
  if set and set[last] then return true end
  if entry.section.name == "http" and later.http_functions[last] then return true end
  if entry.section.class == "Task" then return later.globals.spawn end
  return later.globals[entry.name] or false
end

-- Keys beside the one that an example is of may come later, too.
local function uses_later(entry)
  for key in pairs(later.scenario_keys) do
    if entry.example:find("%f[%w_]" .. key .. " = ") then return true end
  end
  return false
end

for _, section in ipairs(manual.sections()) do
  for _, entry in ipairs(section.entries) do
    local class = section.class
    local kind = entry.example:find('^compare "') and "dry" or (is_later(entry) or uses_later(entry)) and "later" or (class == "Scenario" or class == "HttpOptions") and "check" or "run"
    io.write(entry.name, "\0", kind, "\0", manual.script(entry), "\0")
  end
end
