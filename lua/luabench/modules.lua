-- `require` of scripts: our own public modules, Lua's, and Lua files next to the script, in its lib/ folder or in LuaRocks' 5.1 tree. Files are
-- read by us and loaded as text; nothing goes through package.loaded or package.path.
local core = require "luabench.core"
local errors = require "luabench.errors"
local files = require "luabench.files"
local nearest = require "luabench.nearest"
local permissions = require "luabench.permissions"

local modules = {}

local load, type = load, type

local LOADING = {} -- stands for a module whose file is being run

local function folders_of(script_folder)
  local templates = {}
  local function add(folder)
    templates[#templates + 1] = folder .. "/?.lua"
    templates[#templates + 1] = folder .. "/?/init.lua"
  end
  add(script_folder)
  add(script_folder .. "/lib")
  local home = os.getenv("HOME")
  if home then add(home .. "/.luarocks/share/lua/5.1") end
  add("/usr/local/share/lua/5.1")
  add("/usr/share/lua/5.1")
  return templates
end

local function plain_path(path)
  return (path:gsub("^%./", ""))
end

local function find_file(templates, name)
  local part = name:gsub("%.", "/")
  for _, template in ipairs(templates) do
    local path = plain_path((template:gsub("%?", (part:gsub("%%", "%%%%")))))
    if files.exists(path) then return path end
  end
end

local function check_name(name, extra)
  if type(name) ~= "string" or extra ~= nil then errors.script("require needs the name of a module, not %s", errors.show(name)) end
  if name == "ffi" then permissions.demand("ffi", "module `ffi`") end
  if name == "package" or name:find("^jit%.") then errors.script("module `%s` is not available to scripts", name) end
  if not name:find("^[%w_%-]+[%w_%-.]*$") or name:find("..", 1, true) or name:find("%.$") then
    errors.script('%s is not the name of a module; write require "lib.name" for lib/name.lua', errors.show(name))
  end
end

local function not_found(name, provided, templates)
  if name:find("^luabench%.") then
    local known = {}
    for each in pairs(provided) do
      if each:find("^luabench%.") then known[#known + 1] = each end
    end
    errors.script("there is no module `%s`%s", name, nearest.hint(name, known))
  end
  errors.script("module `%s` is not found; looked for it as:\n  %s", name, table.concat(templates, "\n  "):gsub("%?", (name:gsub("%.", "/"))))
end

local function run_file(path, name, env)
  local text, why = files.source(path)
  if not text then errors.script("module `%s`: %s: %s", name, path, why) end
  local chunk
  chunk, why = load(text, "@" .. path, "t", env)
  if not chunk then errors.script("module `%s`: %s", name, errors.not_compiled(text, path, why)) end
  return chunk(name)
end

-- A module written in C, as Lua itself looks for it; nil when there is none.
local function c_module(name)
  local loader = package.loaders[3](name)
  if type(loader) ~= "function" then return nil end
  local value = loader(name)
  return value == nil and true or value
end

--- A `require` for a script in `script_folder`. `provided()` gives the modules that need no file; `env()` the environment of files.
function modules.require_function(script_folder, provided, env)
  local loaded, templates = {}, folders_of(script_folder)
  return function(name, extra)
    check_name(name, extra)
    local known = provided()[name]
    if known ~= nil then return known end
    local value = loaded[name]
    if value == LOADING then errors.script("module `%s` requires itself through the modules that it requires, or failed before", name) end
    if value ~= nil then return value end
    local path = not name:find("^luabench%.") and find_file(templates, name)
    if not path and permissions.allows("ffi") then
      value = c_module(name)
      if value ~= nil then
        loaded[name] = value
        return value
      end
    end
    if not path then not_found(name, provided(), templates) end
    loaded[name] = LOADING
    local result = core.without_waiting(run_file, path, name, env())
    loaded[name] = result == nil and true or result
    return loaded[name]
  end
end

return modules
