-- Servers under test between the runs: started at their turn, stopped after it, or just watched.
local core = require "luabench.core"
local stage = require "luabench.stage"

local servers = {}

local LINES = 12 -- of a server's output that a message shows

--- The last lines that a server printed, for below a message; "" when it printed nothing.
function servers.last_lines(process)
  local lines = {}
  for line in process:output():gmatch("[^\n]+") do lines[#lines + 1] = "    | " .. line end
  return #lines > 0 and "\n" .. table.concat(lines, "\n", math.max(1, #lines - LINES + 1)) or ""
end

local function folder_of(target)
  if target.cwd and target.cwd:sub(1, 1) == "/" then return target.cwd end
  return target.cwd and (stage.folder .. "/" .. target.cwd) or stage.folder
end

local LOCAL = { localhost = "127.0.0.1", ["127.0.0.1"] = "127.0.0.1", ["[::1]"] = "::1", ["0.0.0.0"] = "127.0.0.1" }

local function host_and_port(address)
  local scheme, host, port = address:match("^(%a+)://(%[[^%]]*%]):?(%d*)")
  if not scheme then scheme, host, port = address:match("^(%a+)://([^:/]*):?(%d*)") end
  return host, tonumber(port) or (scheme == "https" and 443 or 80)
end

-- A server that is there already would be measured instead of the one that is started.
local function port_taken(target)
  local host, port = host_and_port(target.url)
  local address = LOCAL[host]
  if not address or not core.can_connect(address, port) then return nil end
  return ("something listens on %s:%d already; stop it, or let the target use another port"):format(host, port)
end

local function start(target)
  local taken = port_taken(target)
  if taken then return nil, taken end
  local process, why = core.target_start(target.command, target.env, folder_of(target))
  if process then return process end
  return nil, ("%s: %s"):format(target.command[1], why)
end

local function watch(target)
  if not target.pid and not target.port then return nil end
  local process = core.target_watch(target.pid, target.port)
  if process then return process end
  return nil, target.pid and ("there is no process %d that could be watched"):format(target.pid) or ("no process that could be watched listens on port %d"):format(target.port)
end

--- Starts the server of a target, or finds the one to be watched. The process, nil when there is nothing to watch; or nil and what is wrong.
function servers.open(target)
  if target.command then return start(target) end
  return watch(target)
end

--- Ends it when luabench started it. What is wrong when something of it could not be ended, or nil.
function servers.close(target, process)
  local left = process and process:stop(target.stop_timeout)
  return left and ("%s: process %d could not be ended"):format(target.name, left) or nil
end

return servers
