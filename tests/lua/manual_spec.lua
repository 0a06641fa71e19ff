-- The manual against what there really is: every export and key has an entry, and every entry is an export or a key.
local stub = require "core_stub"

local manual, schema

before_each(function()
  stub.install()
  manual, schema = require "luabench.manual", require "luabench.schema"
end)
after_each(stub.clean)

local function documented(section_name)
  local names = {}
  for _, section in ipairs(manual.sections()) do
    for _, entry in ipairs(section.entries) do
      if not section_name or section.name == section_name then names[entry.name:gsub("^[%w{}]+[.:]", section_name and "" or "%0")] = true end
    end
  end
  return names
end

local function check_both(real, written)
  for name in pairs(real) do assert.message(name .. " has no entry in the manual").is_true(written[name] or false) end
  for name in pairs(written) do assert.message(name .. " is in the manual and nowhere else").is_true(real[name] or false) end
end

local function keys_of(rows)
  local names = {}
  for _, row in ipairs(rows) do names[row[1]] = true end
  return names
end

describe("the manual has", function()
  it("every key of a scenario", function() check_both(keys_of(schema.scenario), documented("scenario")) end)
  it("every key of http tables", function() check_both(keys_of(schema.http), documented("http{}")) end)
  it("every option of a request", function() check_both(keys_of(schema.request), documented("opts")) end)

  it("every global of ours and every function in it", function()
    local env = require("luabench.sandbox").environments(function() end)
    local lua = {}
    for name in pairs(_G) do lua[name] = true end
    local real, written = {}, {}
    for name, value in next, env do
      if not lua[name] or name == "print" then
        local functions = type(value) == "table" and (debug.getmetatable(value) or {}).__index
        real[name] = type(value) ~= "table" or type(functions) == "function" or (debug.getmetatable(value) or {}).__call ~= nil or nil
        for each in pairs(type(functions) == "table" and functions or {}) do real[name .. "." .. each] = true end
      end
    end
    real.jit, real.bit = nil, nil
    for _, section in ipairs { "globals", "http", "file", "random", "json", "text", "metrics" } do
      for _, each in ipairs(manual.sections()) do
        for _, entry in ipairs(each.name == section and each.entries or {}) do written[entry.name] = true end
      end
    end
    check_both(real, written)
  end)

  it("every name of Lua that scripts have", function()
    local env, listed = require("luabench.sandbox").environments(function() end), { ["table.pack"] = true, ["table.unpack"] = true } -- busted's
    for _, row in ipairs(require "luabench.manual.lua") do
      for name in row[2]:gmatch("%S+") do
        if row[1] == "" then
          assert.message(name).truthy(rawget(env, name) ~= nil)
        else
          assert.message(row[1] .. "." .. name).truthy(rawget(env, row[1])[name] ~= nil)
        end
        listed[row[1] .. "." .. name] = true
      end
    end
    for name, value in next, env do
      local functions = _G[name] and type(value) == "table" and name ~= "_G" and (debug.getmetatable(value) or {}).__index
      if _G[name] and not functions then assert.message(name).truthy(listed["." .. name]) end
      for each in pairs(type(functions) == "table" and functions or {}) do assert.message(name .. "." .. each).truthy(listed[name .. "." .. each]) end
    end
  end)

  it("signatures that can be read, and a text and an example for each", function()
    for _, section in ipairs(manual.sections()) do
      for _, entry in ipairs(section.entries) do
        assert.message(entry.signature).truthy(entry.name and entry.text and entry.example)
        assert.message(entry.signature).truthy(entry.is_function or entry.type)
        assert.message(entry.signature).truthy(load(manual.script(entry)))
        for _, param in ipairs(entry.params or {}) do assert.message(entry.signature).truthy(param.name and param.type) end
      end
    end
  end)

  it("annotations that are Lua", function() assert.truthy(load(manual.library())) end)
end)
