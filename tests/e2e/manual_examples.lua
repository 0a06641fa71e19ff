-- Prints the examples of the manual for test_manual.py: NAME, "run", "check" or "dry", and the script, each ended by a zero byte. "check": a key, whose load is not to be run; "dry": a comparison, whose targets are not there.
package.path = "lua/?.lua;" .. package.path

local manual = require "luabench.manual"
for _, section in ipairs(manual.sections()) do
  for _, entry in ipairs(section.entries) do
    local class = section.class
    local kind = entry.example:find('^compare "') and "dry" or (class == "Scenario" or class == "HttpOptions") and "check" or "run"
    io.write(entry.name, "\0", kind, "\0", manual.script(entry), "\0")
  end
end
