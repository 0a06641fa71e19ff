-- The help texts of the program, of `serve` and of a script.
local cli = require "luabench.cli"
local params = require "luabench.params"

local help = {}

local PROGRAM = [[
luabench: load tests for HTTP servers, written in Lua

  luabench SCRIPT.lua [options] [-- ARGS]   run a script; ARGS are its `...`;
                                            - is standard input
  luabench SCRIPT.lua URL [options]         the same against another target
  luabench URL [URL ...] [options]          no script: URLs, one after another
  luabench -s WRK.lua [options] URL         a script of wrk or wrk2
  luabench PLAN [URL] [options]             a ready-made plan, by its name
  luabench plans                            lists them
  luabench serve [--port N] [--tls]         a server to try things against
  luabench doctor                           what this machine can measure
  luabench report RESULT.json               the report again, of a saved result
  luabench diff A.json B.json               what has changed from A to B
  luabench merge R1.json R2.json ... -o F   one result out of several
  luabench new NAME                         a script to begin with
  luabench help [NAME]                      what scripts can use

%s

Exit status:
  0    the run finished and every threshold held
  1    it finished, and a threshold failed
  2    the command line or the script is wrong; nothing was sent
  3    no whole response came, or the run could not be carried through
  4    open model, comparisons: it finished, and its figures are not to be
       trusted
  70   a bug of luabench
  130  interrupted: the first Ctrl-C ends the run with its results, a second one
       ends it at once
]]

local WRK = [[
luabench -s SCRIPT.lua [options] URL [-- ARGS]: a script of wrk or wrk2,
unmodified; ARGS are what its init() gets

%s
]]

local SERVE = [[
luabench serve: a small, fast server to try things against: HTTP/1.1 and HTTP/2

  /hello  /echo  /fibonacci/N  /delay/MS  /status/CODE  /bytes/N
  /chunked/N/SIZE; faults: /reject  /reset/CODE  /close  /goaway  /streams/N
  /window/N

%s
]]

local DOCTOR = [[
luabench doctor: what this machine can measure: processors, clock, timers,
loopback, what one thread can do, descriptors, ports; in seven seconds, on the
loopback alone

%s
]]

local SCRIPT = [[
luabench %s [options]

%s

All other options: luabench --help
]]

function help.program() return PROGRAM:format(cli.options_help("run")) end

function help.wrk() return WRK:format(cli.options_help("wrk")) end

function help.serve() return SERVE:format(cli.options_help("serve")) end

function help.doctor() return DOCTOR:format(cli.options_help("doctor")) end

--- Of a script that has been loaded, so that its parameters are known.
function help.script(path)
  local list = params.help()
  return SCRIPT:format(path, list == "" and "It has no parameters." or "Its parameters, set with -p NAME=VALUE:\n" .. list)
end

return help
