-- `luabench URL`: the same kind of scenario as a script's, made of the command line.
local errors = require "luabench.errors"
local http = require "luabench.http"
local url = require "luabench.url"

local quick = {}

local function body_of(given)
  if given.body and given.body_file then errors.usage("-b and -f both give a body: use one") end
  return given.body or given.body_file
end

-- One iteration is one request. What does not change is made once; the request without options is the fast one.
local function iteration(method, address, body)
  if method == "GET" and not body then
    local get = http.get
    return function() get(address) end
  end
  local values = { method = method, url = address, body = body }
  local request = http.request
  return function() request(values) end
end

--- The one scenario of quick mode, in the form of script.scenarios.
function quick.scenario(address, given)
  local body = body_of(given)
  local absolute, why = url.absolute(url.with_scheme(address))
  if not absolute then errors.usage("%s", why) end
  local method = given.method or (body and "POST" or "GET")
  local open = given.rate or given.rate_stages
  local timed = not given.duration and not given.iterations and not given.stages and not given.rate_stages
  return {
    name = method .. " " .. url.path(absolute), where = "the command line",
    values = { run = iteration(method, absolute, body), target = absolute, users = not open and 10 or nil, duration = timed and 10 or nil, http = {} },
  }, absolute
end

return quick
