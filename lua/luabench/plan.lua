-- From what a script defines and what the command line says to the plan: the table of effective settings that both the core and the reports read
-- (docs/core.md). Fields of the plan beside those of the core: script (path or nil), url (quick mode), args, latency (the full table is wanted),
-- json, color, thresholds ({ expression }), outputs ({ path, format }), params ({ name, value, secret }), options (for the result file); of a
-- scenario: target, headers, tags.
local connection = require "luabench.connection"
local core = require "luabench.core"
local debugging = require "luabench.debugging"
local errors = require "luabench.errors"
local format = require "luabench.format"
local headers = require "luabench.headers"
local limits = require "luabench.limits"
local load_keys = require "luabench.load"
local options = require "luabench.options"
local params = require "luabench.params"
local scenario = require "luabench.scenario"
local secrets = require "luabench.secrets"
local shares = require "luabench.shares"
local stage = require "luabench.stage"
local thresholds = require "luabench.thresholds"
local units = require "luabench.units"

local plan = {}

local function check_one_scenario(scenarios, values)
  if #scenarios == 1 then return end
  for _, shape in ipairs(load_keys.OPTIONS) do
    if values[shape[1]] ~= nil then
      errors.usage("%s changes the load of one scenario, and there are %d; choose one with --only NAME.\n%s", shape[2], #scenarios, scenario.listing(scenarios))
    end
  end
end

local function override_load(each, given)
  local why = load_keys.override(each.values, given)
  if why then errors.usage('scenario "%s", with the options of the command line: %s', each.name, load_keys.in_options(why, given)) end
end

local MOST_USERS = 10e6 -- a sleeping user takes a kilobyte

-- Users are held in memory from the start on: a slip of the keyboard must not take it all.
local function check_users(each, values, given)
  local users = load_keys.most_users(values)
  if users <= MOST_USERS then return end
  if given.users then errors.usage("-c: %s users are more than luabench can hold (%s a scenario)", units.show_count(users), units.show_count(MOST_USERS)) end
  errors.usage('%s: scenario "%s": %s users are more than luabench can hold (%s a scenario)', each.where, each.name, units.show_count(users), units.show_count(MOST_USERS))
end

-- What users share: as many as the script says, but no more than there are users of -c; with -m as few as hold all users.
local function share_connections(each, values, given)
  check_users(each, values, given)
  local users = load_keys.most_users(values)
  if given.streams and not values.connections then values.connections = math.ceil(users / given.streams) end
  if not values.connections or values.connections <= users then return end
  if given.users then
    values.connections = users
  else
    errors.usage('%s: scenario "%s": `connections` are shared by the users, and %d are more than there are users (%d); did you mean `users = %d`?',
      each.where, each.name, values.connections, users, values.connections)
  end
end

local function header_options(given)
  local map = {}
  for _, text in ipairs(given.headers or {}) do assert(headers.add_option(map, text)) end
  return map
end

local function override_http(http, given)
  http.timeout = given.timeout or http.timeout
  http.connect_timeout = given.connect_timeout or http.connect_timeout
  http.requests_per_connection = given.requests_per_connection or http.requests_per_connection
  http.redirects = given.redirects or http.redirects
  if given.no_keepalive then http.keep_alive, http.requests_per_connection = false, nil end
  if given.requests_per_connection then http.keep_alive = nil end
  connection.override(http, given)
  local of_command_line = header_options(given)
  if of_command_line.authorization ~= nil then http.auth = nil end
  http.headers = headers.merge(http.headers, of_command_line)
end

local function http_of(values, given, target)
  local http = options.fill("http", values.http)
  return connection.fill({
    timeout = http.timeout, connect_timeout = http.connect_timeout, max_body = http.max_body, keep_alive = http.keep_alive, retry = http.retry,
    lenient = given.lenient_http or false, requests_per_connection = http.requests_per_connection, connections_per_user = values.connections_per_user,
    decode = http.decode, discard_bodies = http.discard_bodies, cookies = http.cookies, redirects = http.redirects, auth = http.auth or nil,
    connections = values.connections, streams = given.streams, pipeline = http.pipeline,
  }, http, given, target)
end

-- The files that are named, the addresses to come from: what does not fit is said before anything is sent. Workers need not do it again.
local function check_connections(each, http, given)
  local why = connection.wrong(each.values.http) or stage.role == "control" and core.check_http(http) or nil
  if not why then return end
  local in_options = connection.in_options(why, given)
  if in_options then errors.usage("%s", in_options) end
  errors.usage("%s%s", stage.folder and ('%s: scenario "%s": http: '):format(each.where, each.name) or "", why)
end

local function effective(each, given)
  local values = each.values
  if given.debug then debugging.reduce(values) else override_load(each, given) end
  share_connections(each, values, given)
  values.http = values.http or {}
  override_http(values.http, given)
  local defaults = options.fill("scenario", {})
  values.connections_per_user = values.connections_per_user or (values.http.pipeline or 1) > 1 and 1 or defaults.connections_per_user
  local target = given.target or values.target
  local http = http_of(values, given, target)
  check_connections(each, http, given)
  local result = load_keys.effective(values, defaults)
  result.name, result.where, result.target, result.headers, result.http = each.name, each.where, target, values.http.headers, http
  result.tags = values.tags
  return result
end

local function users_of(scenarios)
  local sum = 0
  for _, each in ipairs(scenarios) do sum = sum + (each.users or each.max_users) end
  return sum
end

-- A share that has nothing to do is a mistake.
local function check_share(share, scenarios)
  local users = 0
  for _, each in ipairs(scenarios) do
    users = users + shares.part(share, each.users or each.max_users)
    local connections = each.http.connections
    if connections and connections < share.count then
      errors.usage('--share %s: %s of scenario "%s" are too few for %d shares', share.text, format.counted(connections, "connection"), each.name, share.count)
    end
  end
  if users == 0 then errors.usage("--share %s: of %s this share has none", share.text, format.counted(users_of(scenarios), "user")) end
end

local function progress_of(given)
  if given.quiet then return "none" end
  if given.interval then return "lines" end
  return core.terminal(2) and "block" or "lines"
end

local function color_wanted(given)
  local no_color = os.getenv("NO_COLOR")
  return not given.no_color and (no_color == nil or no_color == "") and core.terminal(1) ~= nil
end

local function param_values()
  local list = {}
  for i, row in ipairs(params.list()) do list[i] = { name = row.name, value = row.value, secret = row.secret } end
  return list
end

-- Options that cannot both hold.
local function check_contradictions(given)
  connection.check_given(given)
  load_keys.check_given(given)
  if given.quiet and given.interval then errors.usage("--interval asks for lines of progress and --quiet for none: use one") end
  if given.no_keepalive and given.requests_per_connection then
    errors.usage("--no-keepalive is one request on a connection, --requests-per-connection says how many: use one")
  end
  if given.no_keepalive and given.streams then errors.usage("-m has users share connections, --no-keepalive gives every request its own: use one") end
  if given.debug and given.dry_run then errors.usage("--debug sends one iteration, --dry-run nothing: use one") end
  if given.json and given.report then errors.usage("--json has the result alone on standard output, --report %s a text: use one", given.report) end
  require("luabench.outputs").check(given.outputs)
end

local function threshold_list(scenarios, texts)
  local list = {}
  for i, threshold in ipairs(limits.finish(scenarios)) do list[i] = threshold end
  for _, text in ipairs(texts or {}) do
    local parsed, why = thresholds.parse(text)
    if not parsed then errors.usage("--threshold %s: %s", errors.show(text), why) end
    list[#list + 1] = { expression = text }
  end
  return list
end

local function kinds_of(list)
  local kinds, why = thresholds.kinds(list)
  if not kinds then errors.usage("%s", why) end
  return kinds
end

-- What the result file says of the options: those of the command line that were given, and the parameters with their values.
local REPORTED = { "urls", "order", "literal",
                   "share", "users", "duration", "iterations", "rate", "arrivals", "ramp_up", "warm_up", "graceful_stop", "threads", "target", "timeout", "connect_timeout", "no_keepalive",
                   "requests_per_connection", "redirects", "streams", "lenient_http", "method", "http_version", "insecure", "ca", "cert", "key", "sni", "connect_to", "resolve",
                   "unix_socket", "source_addresses", "proxy", "ipv4", "ipv6" }

-- What was read of an option as it was given; nil for a list without values.
local function as_given(value)
  if type(value) ~= "table" then return value end
  if value.text then return value.text end
  local list = {}
  for i, each in ipairs(value) do list[i] = as_given(each) end
  return list[1] ~= nil and list or nil
end

local function reported(given, values)
  local result = { params = {} }
  for _, key in ipairs(REPORTED) do result[key] = as_given(given[key]) end
  for _, param in ipairs(values) do result.params[param.name] = param.secret and secrets.value(param.value) or param.value end
  return result
end

-- One iteration says nothing about speed: no thresholds, no files.
local function for_debugging(result)
  result.debug, result.threads, result.share, result.progress, result.thresholds, result.slices, result.outputs, result.journals = true, 1, nil, "none", {}, {}, {}, {}
  return result
end

-- Whether another seed would have made another run, as far as can be told: then the report names it.
local function uses_seed(result, given)
  if given.seed or stage.random then return true end
  for _, each in ipairs(result.scenarios) do
    if each.arrivals and each.arrivals ~= "constant" then return true end
  end
  return false
end

-- The files that the core writes while the run goes on, or the others.
local function outputs_of(given, live)
  local list = {}
  for _, output in ipairs(given.outputs or {}) do
    if (output.live or false) == live then list[#list + 1] = output end
  end
  return list
end

--- The plan for `scenarios` ({ name, where, values } as script.scenarios and quick.scenario give them) under the options of the command line.
function plan.make(scenarios, given)
  check_contradictions(given)
  scenarios = scenario.only(scenarios, given.only and given.only[1] and given.only)
  if not given.debug then check_one_scenario(scenarios, given) end
  local result = {
    action = "run", scenarios = {}, script_timeout = given.script_timeout or 10, script_memory = given.script_memory, progress = progress_of(given), interval = given.interval or 10,
    args = given.args, latency = given.latency or false, lenient = given.lenient or false, json = given.json or false, report = given.report, color = color_wanted(given),
    thresholds = threshold_list(scenarios, given.thresholds), params = param_values(),
    share = given.share, outputs = outputs_of(given, false), journals = outputs_of(given, true), secrets = secrets.list(), export = given.prometheus,
  }
  result.watched, result.slices = thresholds.watched(result.thresholds), kinds_of(result.thresholds)
  result.seed = given.seed or core.random_unknown()
  result.options = reported(given, result.params)
  result.options.seed = result.seed
  for i, each in ipairs(scenarios) do result.scenarios[i] = effective(each, given) end
  if result.share and not given.debug then check_share(given.share, result.scenarios) end
  result.uses_seed = uses_seed(result, given)
  result.threads = given.threads and math.min(given.threads, users_of(result.scenarios)) or nil
  return given.debug and for_debugging(result) or result
end

--- Makes sure that every output file can be written, before anything is sent. A file that is there already keeps its content until the end of the run. A pipe is not
--- tried: whoever reads it would see its end.
function plan.open_outputs(outputs)
  for _, output in ipairs(outputs) do
    local file, why
    if core.file_kind(output.path) ~= "other" then file, why = io.open(output.path, "a") end
    if why then errors.usage("-o: cannot write %s", why) end
    if file then file:close() end
  end
end

return plan
