-- Where the core enters: the command line becomes a command (docs/core.md). A mistake of the person is a message and exit status 2; an error of ours
-- keeps its traceback and is status 70.
local core = require "luabench.core"
local errors = require "luabench.errors"
local stage = require "luabench.stage"
local terminal = require "luabench.terminal"

local main = {}

local WRONG, BROKEN, BUG = 2, 3, 70
local LEAST_MEMORY = 4 * 1024 * 1024 -- bytes of a Lua state with everything in it

local function say(text)
  local written, why = core.write(1, text)
  if written then return { action = "exit", status = 0 } end
  core.write(2, "luabench: cannot print to standard output: " .. why .. "\n")
  return { action = "exit", status = BROKEN }
end

-- What the words of the command line mean: a URL, a script, or a ready-made plan.

local function nothing_called(word)
  if core.file_kind(word) == "directory" then errors.usage("%s is a folder; give a script in it", word) end
  if word:find("/", 1, true) or word:find("%.lua$") then
    local _, why = require("luabench.files").source(word)
    errors.usage("cannot read the script %s: %s", errors.path(word), why or "it is not a file")
  end
  local near = require("luabench.nearest").name(word, require("luabench.plans").words())
  local guess = near and ("; did you mean `luabench %s`?"):format(near) or word:find("%.") and ("; a URL begins with http://: luabench http://%s"):format(word) or ""
  errors.usage("%s is neither a URL, nor a script, nor a ready-made plan%s", errors.show(word), guess)
end

local STDIN = "/dev/stdin"

-- Returns "url" or "script", and what it is.
local function dispatch(word)
  if require("luabench.url").looks_like(word) then return "url", word end
  if word == "-" then return "script", STDIN end
  if require("luabench.files").exists(word) then return "script", word end
  local path = require("luabench.plans").find(word)
  if path then return "script", path end
  return nothing_called(word)
end

local NOTHING = [[nothing to run; give a script or a URL:

  luabench script.lua
  luabench http://127.0.0.1:8080/

luabench --help lists the options.]]

-- Options that say what quick mode requests; a script makes its own requests.
local QUICK_ONLY = { { "method", "-X" }, { "body", "-b" }, { "body_file", "-f" }, { "form", "-F" }, { "urls", "--urls" }, { "order", "--order" }, { "literal", "--literal" } }

local function check_script_words(given)
  local words = given.words
  local url = require "luabench.url"
  if words[2] and not url.looks_like(words[2]) then
    errors.usage("%s: after a script only a URL can follow; arguments of the script stand behind --: luabench %s -- %s", errors.show(words[2]), words[1], words[2])
  end
  if words[3] then errors.usage("too many arguments: %s", errors.show(words[3])) end
  if words[2] and given.target then errors.usage("%s and --target both give the target: use one", words[2]) end
  for _, row in ipairs(QUICK_ONLY) do
    local value = given[row[1]]
    if value and (type(value) ~= "table" or value[1]) then errors.usage("%s says what quick mode requests (luabench URL); a script makes its own requests", row[2]) end
  end
  if words[2] then
    local base, why = url.target(url.with_scheme(words[2]))
    if not base then errors.usage("%s", why) end
    given.target = base
  end
end

local function params_of(given)
  local texts = {}
  for _, pair in ipairs(given.params or {}) do
    if texts[pair[1]] then errors.usage("-p %s is given twice", pair[1]) end
    texts[pair[1]] = pair[2]
  end
  return texts
end

-- What the command line says to the modules that scripts use.
local function configure_script(path, given)
  require("luabench.secrets").reset(given.show_secrets)
  require("luabench.env").configure(given.env)
  require("luabench.params").configure(params_of(given))
  require("luabench.permissions").configure(require("luabench.files").script_folder(path), given)
  core.random_seed(given.seed or 0)
end

-- Options that mean nothing for a comparison, and why.
local NOT_COMPARED = {
  { "debug", "--debug shows one iteration of a scenario" }, { "prometheus", "--prometheus shows the figures of a run" }, { "report", "--report wrk is of one run" },
  { "latency", "-L is the table of one run" }, { "interval", "--interval shows how a run gets on" }, { "thresholds", "--threshold judges a run" }, { "share", "--share splits the load of a run" },
}

-- What a comparison takes its numbers from is in the script: the options of the command line would change all cases alike.
local function check_comparison(given)
  for _, row in ipairs(require("luabench.load").OPTIONS) do
    if given[row[1]] ~= nil then errors.usage("%s would change all cases of the comparison alike: let the script have a parameter for it (params, -p)", row[2]) end
  end
  if given.target then errors.usage("--target is for a scenario; a comparison has targets of its own") end
  for _, row in ipairs(NOT_COMPARED) do
    local value = given[row[1]]
    if value and not (type(value) == "table" and not value[1]) then errors.usage("%s, and this script compares", row[2]) end
  end
  for _, output in ipairs(given.outputs or {}) do
    if not output.path:find("%.json$") and not output.path:find("%.html$") then errors.usage("-o %s: a comparison is written as FILE.json or FILE.html", errors.show(output.path)) end
  end
end

local function comparison_plan(path, given)
  local compare, scenario = require "luabench.compare", require "luabench.scenario"
  check_comparison(given)
  if scenario.any() then errors.usage("%s: a comparison and a scenario cannot be in one script: what runs beside a comparison would disturb it", path) end
  local limit = require("luabench.limits").finish({})[1]
  if limit then errors.usage("%s: thresholds judge a run; a comparison has verdicts instead", limit.where) end
  require("luabench.params").check_given(path)
  local comparisons = compare.finish(given.rounds, given.aa, given.only)
  given.only = nil
  if given.dry_run then return say(require("luabench.compare.words").dry_run(comparisons)) end
  local conductor = require "luabench.compare.conductor"
  if stage.role == "control" then
    conductor.check_leave(comparisons)
    require("luabench.plan").open_outputs(given.outputs or {})
  end
  local plan = stage.role == "control" and conductor.begin(comparisons, given, path) or conductor.slot(comparisons, given, stage.slot)
  plan.script = path
  return plan
end

-- Where the address space is limited (ulimit -v), half of what is left is for Lua: an error of memory can be caught there, and nowhere else.
local function limit_memory(given)
  local left = stage.role == "control" and not given.script_memory and core.memory_left()
  if left then given.script_memory = math.max(LEAST_MEMORY, math.floor(left / 2 / ((given.threads or core.cores()) + 1))) end
end

local function script_plan(path, given)
  local script = require "luabench.script"
  check_script_words(given)
  configure_script(path, given)
  limit_memory(given)
  script.load(path, given.args, given.script_memory)
  if given.help then return say(require("luabench.help").script(path)) end
  if require("luabench.compare").defined() then return comparison_plan(path, given) end
  if given.rounds or given.aa then errors.usage("%s is for comparisons, and %s has none", given.aa and "--aa" or "--rounds", path) end
  local plan = require("luabench.plan").make(script.scenarios(path), given)
  plan.script = path
  return plan
end

local function check_url_words(given)
  if given.target then errors.usage("--target replaces a script's target; without a script the URL itself is enough") end
  if given.params and given.params[1] then errors.usage("-p sets parameters of a script, and there is none") end
  if given.only and given.only[1] then errors.usage("--only chooses a scenario of a script, and there is none") end
  if given.args[1] then errors.usage("what follows -- is for a script, and there is none") end
  if given.env and given.env[1] then errors.usage("-e passes a variable to a script, and there is none") end
  if given.rounds or given.aa then errors.usage("%s is for comparisons of a script, and there is none", given.aa and "--aa" or "--rounds") end
end

local function url_plan(given)
  check_url_words(given)
  require("luabench.params").configure(nil)
  require("luabench.secrets").reset(given.show_secrets)
  local scenario, absolute = require("luabench.quick").scenario(given)
  local plan = require("luabench.plan").make({ scenario }, given)
  plan.url = absolute
  return plan
end

local function end_loading(plan)
  require("luabench.http").configure(plan.scenarios)
  require "luabench.user"
  require("luabench.stage").loading = false
end

-- What is left to do when the plan is made.
local function begin(plan, given, role)
  if given.dry_run then return say(require("luabench.dryrun").describe(plan)) end
  if role == "control" then require("luabench.plan").open_outputs(plan.outputs) end
  end_loading(plan)
  return plan
end

-- A script of wrk's: luabench -s SCRIPT.lua URL.
local function run_wrk(argv, role)
  local given = require("luabench.cli").parse_wrk(argv)
  if given.version then return say("luabench " .. core.VERSION .. "\n") end
  if given.help then return say(require("luabench.help").wrk()) end
  require("luabench.stage").role = role
  return begin(require("luabench.wrk").plan(given), given, role)
end

local function run(argv, role)
  local given = require("luabench.cli").parse_run(argv)
  local word = given.words[1]
  if given.version then return say("luabench " .. core.VERSION .. "\n") end
  if given.help and (not word or require("luabench.url").looks_like(word)) then return say(require("luabench.help").program()) end
  if not word and not given.urls then errors.usage("%s", NOTHING) end
  require("luabench.stage").role = role
  if given.debug then require("luabench.debugging").install() end
  local kind, what = "url", nil
  if word then kind, what = dispatch(word) end
  local plan = kind == "url" and url_plan(given) or script_plan(what, given)
  if plan.action ~= "run" then return plan end
  return begin(plan, given, role)
end

local function serve(argv)
  local given = require("luabench.cli").parse_serve(argv)
  if given.help then return say(require("luabench.help").serve()) end
  return {
    action = "serve", port = given.port or 8080, host = given.host or "127.0.0.1", threads = given.threads or 1, http = given.http,
    tls = given.tls, cert_out = given.cert_out, goaway_after = given.goaway_after, streams = given.streams, window = given.window, read_rate = given.read_rate,
  }
end

local function doctor(argv, role)
  local given = require("luabench.cli").parse_doctor(argv)
  if given.help then return say(require("luabench.help").doctor()) end
  stage.role, given.quiet = role, true
  require("luabench.params").configure(nil)
  require("luabench.secrets").reset(false)
  local plan = require("luabench.doctor").plan(given, role, stage.slot)
  if plan.action == "run" then end_loading(plan) end
  return plan
end

local function rest(argv)
  return { unpack(argv, 2, #argv) }
end

local function manual(argv)
  local text, near
  if argv[2] then
    text, near = require("luabench.manual").help(argv[2])
    text = text or require("luabench.cli").option_help(argv[2])
  else
    text = require("luabench.manual").contents()
  end
  if not text then errors.usage("there is no help on %s%s\nluabench help lists all names, luabench --help the options.", argv[2], near) end
  return say(text)
end

-- What is done with saved results.
local SAVED = { report = true, diff = true, merge = true }

local function choose(argv, role)
  if argv[1] == "help" then return manual(argv) end
  if argv[1] == "new" then return say(require("luabench.new").make(rest(argv))) end
  if argv[1] == "serve" then return serve(rest(argv)) end
  if argv[1] == "doctor" then return doctor(rest(argv), role) end
  if argv[1] == "plans" then return say(require("luabench.plans").list(rest(argv))) end
  if SAVED[argv[1]] then return require("luabench.saved.commands")[argv[1]](rest(argv)) end
  local words = argv[1] == "run" and rest(argv) or argv
  if require("luabench.cli").is_wrk(words) then return run_wrk(words, role) end
  return run(words, role)
end

local NO_MEMORY = "not enough memory" -- Lua's own words

local function on_error(value)
  if errors.is_usage(value) or value == NO_MEMORY then return value end
  return debug.traceback(tostring(value), 2)
end

--- What the command line wants: a command (docs/core.md). `role` is "control" or "worker"; the latter prints nothing, and finds its message in `text`. `slot` is that of
--- the plan which a worker carries out, "" when there is only one.
function main.command(argv, role, slot)
  stage.slot = slot or ""
  local ok, result = xpcall(function() return choose(argv, role) end, on_error)
  if ok then return result end
  if result == NO_MEMORY then return { action = "exit", status = BROKEN, text = core.write(2, "luabench: not enough memory\n") and "" } end
  local usage = errors.is_usage(result)
  local text = terminal.lines("luabench: " .. (usage and result.text or "internal error: " .. result) .. "\n") -- none of what it repeats is to steer the terminal
  if role == "control" then core.write(2, text) end
  return { action = "exit", status = usage and WRONG or BUG, text = text }
end

--- In the control state, when the workers' states are there and at rest: 0, or the exit status when the run is not to begin.
function main.prepare(plan)
  return plan.prepare and plan.prepare(plan) or 0
end

--- After a run that ended with `status`, in the control state: the next command when this one is not the last, or nil.
function main.continue(plan, status)
  return plan.continue and plan.continue(status)
end

--- After the run, in the control state: report, files, exit status.
function main.finish(plan, results)
  if plan.take then return plan.take(results) end
  if plan.debug then return require("luabench.debugging").finish(results) end
  local status = require("luabench.finish").finish(plan, results)
  return plan.after_report and plan.after_report(results, status) or status
end

return main
