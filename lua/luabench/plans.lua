-- Ready-made plans: scripts that are run by their names, from the folders of $LUABENCH_PATH and the one that is installed; and `luabench plans`, which lists them.
local core = require "luabench.core"
local errors = require "luabench.errors"
local files = require "luabench.files"
local params = require "luabench.params"
local permissions = require "luabench.permissions"

local plans = {}

local COMMANDS = { "serve", "run", "new", "help", "plans", "report", "diff", "merge" }

local function folders()
  local list = {}
  for folder in (os.getenv("LUABENCH_PATH") or ""):gmatch("[^:]+") do list[#list + 1] = folder end
  list[#list + 1] = core.root .. "/scripts"
  return list
end

--- The path of the plan of that name, or nil.
function plans.find(name)
  if not name:find("^[%w_%-]+$") then return nil end
  for _, folder in ipairs(folders()) do
    local path = folder .. "/" .. name .. ".lua"
    if files.exists(path) then return path end
  end
end

-- Names, sorted, and the path of each: that of the first folder that has it.
local function all()
  local names, paths = {}, {}
  for _, folder in ipairs(folders()) do
    for _, entry in ipairs(core.folder(folder) or {}) do
      local name = entry:match("^([%w_%-]+)%.lua$")
      if name and not paths[name] then names[#names + 1], paths[name] = name, folder .. "/" .. entry end
    end
  end
  table.sort(names)
  return names, paths
end

--- What can stand first on the command line beside scripts and URLs: commands and plans.
function plans.words()
  local words = { unpack(COMMANDS) }
  for _, name in ipairs((all())) do words[#words + 1] = name end
  return words
end

-- The comment at the top, its first paragraph as one line.
local function about(path)
  local text = files.source(path) or ""
  local lines = {}
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    local words = line:match("^%-%-%s*(.-)%s*$")
    if not words or words == "" then break end
    lines[#lines + 1] = words
  end
  return table.concat(lines, " ")
end

-- "path=/ users=20": its parameters and their defaults, or why they cannot be known.
local function parameters(path)
  params.configure(nil)
  permissions.configure(files.script_folder(path), {})
  local ok, failure = pcall(require("luabench.script").load, path, {})
  if not ok then
    if not errors.is_usage(failure) then error(failure, 0) end
    return "cannot be loaded: " .. failure.text:match("^[^\n]*")
  end
  local list = {}
  for i, row in ipairs(params.list()) do list[i] = row.name .. "=" .. (row.secret and "" or tostring(row.default)) end
  return list[1] and "-p " .. table.concat(list, " ") or "no parameters"
end

--- The ready-made plans as text, a name with what it is for, and its parameters.
function plans.list(words)
  if words[1] then errors.usage("plans takes no argument %s; what a plan can be told: luabench PLAN --help", errors.show(words[1])) end
  local names, paths = all()
  if #names == 0 then return "There are no plans in " .. table.concat(folders(), ", ") .. "; the environment variable LUABENCH_PATH can name other folders.\n" end
  local lines = {}
  for _, name in ipairs(names) do
    local words = about(paths[name])
    lines[#lines + 1] = words == "" and name or name .. ": " .. words
    lines[#lines + 1] = "    " .. parameters(paths[name])
  end
  return table.concat(lines, "\n") .. "\n\nRun one with: luabench NAME [URL] [-p PARAMETER=VALUE]; luabench NAME --help says what its parameters are.\n"
end

return plans
