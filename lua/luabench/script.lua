-- Loads a script: as text, in its environment, and collects what it defines. Every way in which that fails is a message and exit status 2.
local compare = require "luabench.compare"
local core = require "luabench.core"
local errors = require "luabench.errors"
local file = require "luabench.file"
local files = require "luabench.files"
local hook = require "luabench.report.hook"
local libraries = require "luabench.libraries"
local limits = require "luabench.limits"
local metric = require "luabench.metric"
local modules = require "luabench.modules"
local params = require "luabench.params"
local sandbox = require "luabench.sandbox"
local scenario = require "luabench.scenario"
local shared = require "luabench.shared"
local stage = require "luabench.stage"

local script = {}

local unpack = unpack

local function read(path)
  local text, why = files.source(path)
  if not text then errors.usage("cannot read the script %s: %s", errors.path(path), why) end
  if text:sub(1, 1) == "\27" then errors.usage("%s is compiled Lua; a script must be text", path) end
  return text
end

local function compile(path, text, env)
  local chunk, why = sandbox.compile(path, text, env)
  if not chunk then errors.usage("%s", errors.not_compiled(text, path, why)) end
  return chunk
end

-- The calls that led to an error, for below its text; "" when there was but one, and the text names its line.
local function calls(text)
  local frames = errors.script_frames(debug.traceback("", 3))
  if #frames == 0 or (#frames == 1 and text:find("^[^\n]-:%d+: ")) then return "" end
  return "\n" .. table.concat(frames, "\n"):gsub("in function 'main_chunk'", "in main chunk")
end

local function on_error(value)
  if errors.is_usage(value) then return value end
  local text = core.error_text(value)
  return { text = text, calls = calls(text) }
end

local function run(main_chunk, args, memory)
  if memory then core.limit_memory(memory, true) end
  local ok, failure = xpcall(function() main_chunk(unpack(args, 1, #args)) end, on_error)
  if memory then core.limit_memory(memory, false) end
  if ok then return end
  if type(failure) == "string" then errors.usage("the script cannot be loaded: %s (--script-memory)", failure) end
  if errors.is_usage(failure) then error(failure, 0) end
  errors.usage("%s%s", failure.text, failure.calls)
end

--- Loads the script at `path` with `args` as its `...`, in no more than `memory` bytes of this state when that is given; script.scenarios says what it defined.
function script.load(path, args, memory)
  local text = read(path)
  local env, module_env, provided, buffer
  local require_function = modules.require_function(files.script_folder(path), function() return provided end, function() return module_env end)
  env, module_env, buffer = sandbox.environments(require_function)
  provided = sandbox.modules(env, buffer)
  libraries.seal()
  scenario.reset()
  compare.reset()
  file.reset()
  limits.reset()
  metric.reset()
  hook.reset()
  stage.loading, stage.folder, stage.script = true, files.script_folder(path), path
  run(compile(path, text, env), args or {}, memory)
end

--- What the loaded script defined. Ends the command when that is nothing, or not whole, or when -p names what it does not declare.
function script.scenarios(path)
  params.check_given(path)
  local scenarios = scenario.finish(path)
  shared.check(path, scenarios)
  return scenarios
end

return script
