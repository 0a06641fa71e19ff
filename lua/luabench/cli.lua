-- The command line: argv to a table of values, by the rows of flags.lua. argparse does the parsing; what stands here is how values are read, what is
-- said when one is wrong, and which script, plan, URL or command the words mean.
local argparse = require "argparse"
local connection = require "luabench.connection"
local core = require "luabench.core"
local errors = require "luabench.errors"
local files = require "luabench.files"
local flags = require "luabench.flags"
local formats = require "luabench.output.formats"
local headers = require "luabench.headers"
local load_keys = require "luabench.load"
local nearest = require "luabench.nearest"
local units = require "luabench.units"
local url = require "luabench.url"

local cli = {}

local show = errors.show

-- Readers of values: a value, or nil and what is wrong in words.

local READERS = {
  count = function(text) return units.count(text) end,
  duration = units.duration,
  positive_duration = units.positive_duration,
  text = connection.readers.text,
  connect_to = connection.readers.connect_to,
  http_version = connection.readers.http_version,
  proxy = connection.readers.proxy,
  resolve = connection.readers.resolve,
  sni = connection.readers.sni,
  source_address = connection.readers.source_address,
  hops = function(text) return units.count(text, 0) end,
  rate = units.rate,
  arrivals = load_keys.readers.arrivals,
  warm_up = load_keys.readers.warm_up,
  user_stages = function(text) return load_keys.stages_option("users", text) end,
  rate_stages = function(text) return load_keys.stages_option("rate", text) end,
}

function READERS.port(text)
  local port = units.count(text, 0)
  if port and port <= 65535 then return port end
  return nil, show(text) .. " is not a port; one is a number from 0 to 65535"
end

-- A setting of HTTP/2 (RFC 9113 6.5.2), which may be 0.
function READERS.limit(text)
  local limit = units.count(text, 0)
  if limit and limit < 2 ^ 32 then return limit end
  return nil, show(text) .. " is not a limit; one is a number from 0 to 4294967295"
end

function READERS.window(text)
  local size, why = units.size(text)
  if size and size >= 2 ^ 31 then return nil, show(text) .. " is too large for a window; the largest is 2147483647" end
  return size, why
end

function READERS.rate_of_bytes(text)
  local size, why = units.size(text)
  if size == 0 then return nil, "it must be more than 0" end
  return size, why
end

local STANDARD = { get = true, head = true, post = true, put = true, patch = true, delete = true, options = true, trace = true }

function READERS.method(text)
  if STANDARD[text:lower()] then return text:upper() end
  if text:upper() == "CONNECT" or not text:find("^[%w!#$&'*+%-.^_`|~]+$") then return nil, show(text) .. " is not a method; write GET, POST, PURGE ..." end
  return text
end

function READERS.header(text)
  local ok, why = headers.add_option({}, text)
  if not ok then return nil, why end
  return text
end

function READERS.body(text)
  local path = text:match("^@(.+)$")
  if path and files.exists(path) then return nil, ("%s would be sent as it stands; for the content of the file write -f %s"):format(show(text), path) end
  return text
end

function READERS.file(text)
  local content, why = files.read(text == "-" and "/dev/stdin" or text, nil, true)
  if not content then return nil, ("cannot read %s: %s"):format(text, why) end
  return content
end

function READERS.form(text) return require("luabench.quick.form").read(text) end

function READERS.order(text)
  if text == "random" or text == "sequence" then return text end
  return nil, show(text) .. " is no order; there are sequence and random"
end

-- A folder that is there, or a file in one.
function READERS.place(text)
  if core.file_kind(text) then return text end
  return nil, show(text) .. " is neither a folder nor a file"
end

function READERS.folder(text)
  if core.file_kind(text) == "directory" then return text end
  return nil, show(text) .. (core.file_kind(text) and " is not a folder" or ": there is no such folder")
end

function READERS.pair(text)
  local name, value = text:match("^([^=%s]+)=(.*)$")
  if not name then return nil, show(text) .. " is not NAME=VALUE" end
  return { name, value }
end

function READERS.variable(text)
  if text:find("^[%a_][%w_]*$") or text:find("^[%a_][%w_]*=") then return text end
  return nil, show(text) .. " is neither NAME nor NAME=VALUE"
end

local MOST_THREADS = 1024 -- more than any machine has cores for

function READERS.threads(text)
  local threads, why = units.count(text)
  if threads and threads > MOST_THREADS then return nil, ("%s threads are too many; the most is %d"):format(show(text), MOST_THREADS) end
  return threads, why
end

-- "2/3": { index = 1, count = 3 }, and as it was given.
function READERS.share(text)
  local number, count = text:match("^(%d%d?%d?%d?)/(%d%d?%d?%d?)$")
  number, count = tonumber(number), tonumber(count)
  if number and number >= 1 and number <= count then return { index = number - 1, count = count, text = text } end
  return nil, show(text) .. " is not a share; the second of three is 2/3"
end

local LEAST_MEMORY = 4 * 1024 * 1024

function READERS.memory(text)
  local size, why = units.size(text)
  if size and size < LEAST_MEMORY then return nil, show(text) .. " is too little: a thread needs 4MiB before it does anything" end
  return size, why
end

function READERS.seed(text)
  local number = text:find("^%d+$") and tonumber(text)
  if number and number <= 2 ^ 53 then return number end
  return nil, show(text) .. " is not a seed; one is a whole number from 0 to 9007199254740992"
end

-- ":9095", "127.0.0.1:9095", "[::1]:9095".
function READERS.address(text)
  local host, port = text:match("^%[([%x:.]+)%]:(%d+)$")
  if not host then host, port = text:match("^([^:%[%]/%s]*):(%d+)$") end
  if port and tonumber(port) <= 65535 then return { host = host, port = tonumber(port) } end
  return nil, show(text) .. " is not HOST:PORT; write :9095 (any address of this machine) or 127.0.0.1:9095"
end

-- "5%": 0.05.
function READERS.percent(text)
  local number = tonumber(text:match("^(%d+%.?%d*)%%?$"))
  if number then return number / 100 end
  return nil, show(text) .. " is not a percentage; one is 5%"
end

-- The layout of the text report.
function READERS.report(text)
  if text == "wrk" then return text end
  return nil, show(text) .. " is no layout of the report; there is wrk"
end

function READERS.url(text)
  return url.target(url.looks_like(text) and url.with_scheme(text) or text)
end

function READERS.output(text)
  local row = formats.of(text)
  if row then return { path = text, format = row.ending:sub(2), live = row.live } end
  if text == "-" then return nil, "standard output gets the result with --json" end
  return nil, ("%s: the ending says the format; known: %s"):format(show(text), formats.known())
end

-- What a value looks like that was given to the wrong option.
local LOOKS = {
  { "^%s*[%[{<]", "a body is -b", "body" },
  { "://", "a URL stands alone, without an option", "target" },
  { "^[%w%-]+:%s", "a header is -H", "headers" },
  { "^%d+%.?%d*%s*[um]?s$", "how long to run is -d", "duration" }, { "^%d+[mh]$", "how long to run is -d", "duration" },
  { "^%u+$", "a method is -X", "method" },
  { "^%a+/[%w+.%-]+$", "a content type is -H 'Content-Type: ...'", "headers" },
  { "^[%a_][%w_]*=", "a parameter of the script is -p", "params" },
  { "^@", "a body from a file is -f", "body_file" },
  { "%.json$", "the file for the result is -o", "outputs" },
  { "%.lua$", "a script stands alone, without an option", "" },
}

local function misplaced(row, text)
  for _, look in ipairs(LOOKS) do
    if look[3] ~= row[1] and text:find(look[1]) then return look[2] end
  end
end

local STRICT = { count = true, threads = true, duration = true, positive_duration = true, header = true, pair = true, method = true, port = true }

-- `typed`: the names by which the option is given, in order; messages use the one of the value that is read.
local function reader_of(row, typed)
  local count = 0
  return function(text)
    count = count + 1
    local flag = typed[count] or row[2] or row[3]
    local value, why = READERS[row.kind](text)
    if value ~= nil then return value end
    if text == "" then return nil, ("%s: its value is empty; write %s %s"):format(flag, flag, row.example) end
    local hint = STRICT[row.kind] and misplaced(row, text)
    if hint then return nil, ("%s is %s, and %s is none; %s"):format(flag, row.what, show(text), hint) end
    return nil, flag .. ": " .. why
  end
end

local function add_option(parser, row, typed)
  local names = row[2] and row[2] .. " " .. row[3] or row[3]
  local hidden = row.also
  if not row[4] then
    local flag = parser:flag(names):target(row[1])
    return hidden and flag:hidden_name(hidden)
  end
  local option = parser:option(names):target(row[1]):convert(reader_of(row, typed))
  if row.many then option:count "*" else option:overwrite(false) end
  return hidden and option:hidden_name(hidden)
end

local function make_parser(groups, typed)
  local parser = argparse("luabench"):add_help(false):require_command(false)
  parser:argument("words"):args "*"
  for _, group in ipairs(groups) do
    for _, row in ipairs(group) do add_option(parser, row, typed[row] or {}) end
  end
  return parser
end

local function each_row(groups)
  local rows = {}
  for _, group in ipairs(groups) do
    for _, row in ipairs(group) do
      rows[#rows + 1] = row
    end
  end
  return rows
end

local function index_names(groups)
  local index = {}
  for _, row in ipairs(each_row(groups)) do
    for name in ((row[2] or "") .. " " .. row[3] .. " " .. (row.also or "")):gmatch("%S+") do index[name] = row end
  end
  return index
end

-- The option in a word ("-c", "-c50", "--users=50") and the name that it is given by; nil when the word is none.
local function option_in(word, index)
  local name = index[word] and word or word:match("^(%-%-[^=]+)=") or word:match("^%-[^-]")
  return index[name], name
end

-- row → the names by which it is given, in order.
local function typed_names(words, index)
  local typed, i = {}, 1
  while i <= #words do
    local row, name = option_in(words[i], index)
    if row then
      typed[row] = typed[row] or {}
      table.insert(typed[row], name)
    end
    i = i + (index[words[i]] and row[4] and not row.bare and 2 or 1)
  end
  return typed
end

-- As with getopt, what follows an option that takes a value is that value, even when it begins with "-": `-b -5`, `-d -1s`. argparse would take it for
-- an option; written as one word it does not.
local function join_values(words, index)
  local joined, i = {}, 1
  while i <= #words do
    local word = words[i]
    local row = index[word]
    if row and row.bare then
      joined[#joined + 1] = row[3] .. "=" .. row.bare
    elseif row and row[4] and words[i + 1] then
      joined[#joined + 1] = row[3] .. "=" .. words[i + 1]
      i = i + 1
    else
      joined[#joined + 1] = word
    end
    i = i + 1
  end
  return joined
end

local function explain_unknown(name, index, list)
  local long = {}
  for known in pairs(index) do
    if known:find("^%-%-") then long[#long + 1] = known end
  end
  local found = name:find("^%-%-") and nearest.name(name, long)
  return ("unknown option %s%s"):format(name, found and "; did you mean " .. found .. "?" or "; " .. list .. " lists the options")
end

-- argparse's messages in our words.
local function explain(message, index, list)
  local name = message:match("^unknown option '(.-)'")
  if name then return explain_unknown(name, index, list) end
  name = message:match("^option '(.-)' requires an argument")
  if name then
    local row = index[name]
    return ("%s needs a value: %s %s"):format(name, name, row.example)
  end
  name = message:match("^option '(.-)' must be used at most 1 time")
  if name then return ("%s is given twice"):format(index[name] and (index[name][2] or index[name][3]) or name) end
  name = message:match("^option '(.-)' does not take arguments")
  if name then return name .. " takes no value" end
  return message
end

local function parse(groups, argv)
  local index = index_names(groups)
  local ok, result = make_parser(groups, typed_names(argv, index)):pparse(join_values(argv, index))
  if not ok then errors.usage("%s", explain(result, index, groups == flags.serve and "luabench serve --help" or "luabench --help")) end
  return result
end

-- What follows the first `--` that is not the value of an option.
local function split_args(argv, index)
  local own, args = {}, {}
  local i = 1
  while i <= #argv and argv[i] ~= "--" do
    own[#own + 1] = argv[i]
    local row = index[argv[i]]
    if row and row[4] and not row.bare and argv[i + 1] then
      own[#own + 1] = argv[i + 1]
      i = i + 1
    end
    i = i + 1
  end
  for j = i + 1, #argv do args[#args + 1] = argv[j] end
  return own, args
end

--- argv of a run (the word `run` taken off) as a table: a field for each row of flags.run, `words`, `args` (what follows --).
function cli.parse_run(argv)
  local own, args = split_args(argv, index_names(flags.run))
  local values = parse(flags.run, own)
  values.args = args
  return values
end

--- True when argv has a script of wrk's: -s or --script.
function cli.is_wrk(argv)
  local index, i = index_names(flags.run), 1
  while i <= #argv and argv[i] ~= "--" do
    local word = argv[i]
    if word == "--script" or word:find("^%-%-script=") or word:find("^%-s") then return true end
    local row = index[word]
    i = i + (row and row[4] and not row.bare and 2 or 1)
  end
  return false
end

--- argv of a run of a script of wrk's, as cli.parse_run.
function cli.parse_wrk(argv)
  local own, args = split_args(argv, index_names(flags.wrk))
  local values = parse(flags.wrk, own)
  values.args = args
  return values
end

--- argv of `serve`, the word taken off.
function cli.parse_serve(argv)
  local values = parse(flags.serve, argv)
  if values.words[1] then errors.usage("serve takes no argument %s; luabench serve --help shows its options", show(values.words[1])) end
  if values.cert_out and not values.tls then errors.usage("--cert-out writes the certificate of --tls, and there is none without it") end
  return values
end

--- argv of `doctor`, the word taken off.
function cli.parse_doctor(argv)
  local values = parse(flags.doctor, argv)
  if values.words[1] then errors.usage("doctor takes no argument %s", show(values.words[1])) end
  return values
end

--- argv of `report`, `diff` or `merge`, the word taken off.
function cli.parse_saved(command, argv)
  return parse(flags[command], argv)
end

local WIDTH, COLUMN = 80, 30

-- Words filled into lines of at most `width`, each further line indented by `indent`.
local function wrap(text, width, indent)
  local lines, line = {}, ""
  for word in text:gmatch("%S+") do
    if line ~= "" and #line + 1 + #word > width then
      lines[#lines + 1], line = line, word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n" .. (" "):rep(indent))
end

-- "  -c, --users N    text", the text in a column of its own.
local function option_line(row)
  local left = "  " .. (row[2] and row[2] .. ", " or "    ") .. row[3] .. (row.bare and row[4] or row[4] and " " .. row[4] or "")
  local text = wrap(row[5], WIDTH - COLUMN, COLUMN)
  if #left > COLUMN - 2 then return left .. "\n" .. (" "):rep(COLUMN) .. text end
  return left .. (" "):rep(COLUMN - #left) .. text
end

--- What --help says of one option, given by any of its names ("-c", "--users", "--vus"); nil when there is none.
function cli.option_help(name)
  local row = index_names(flags.run)[name]
  return row and option_line(row) .. "\n"
end

--- The options of "run" or "serve" as text.
function cli.options_help(command)
  local blocks = {}
  for _, group in ipairs(flags[command]) do
    local lines = { group.title .. ":" }
    for _, row in ipairs(group) do lines[#lines + 1] = option_line(row) end
    blocks[#blocks + 1] = table.concat(lines, "\n")
  end
  return table.concat(blocks, "\n\n")
end

return cli
