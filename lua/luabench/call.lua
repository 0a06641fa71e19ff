-- A call of http.* that may take several requests, or whose answer the script judges: redirects (RFC 9110 15.4), the challenge of a digest, `expect`. It is one request in
-- the figures (core.call).
--
-- A job: { index, method, url (as the script wrote it, later absolute), own (headers of user and request), name, accept, type_line, version, body, timeout, redirects, digest, expect,
-- keeps_cookies, sends_cookies }; made here: prepared, lines, challenge (of the server's that is answered), answered (how many new ones).
local core = require "luabench.core"
local auth = require "luabench.auth"
local cookies = require "luabench.cookies"
local errors = require "luabench.errors"
local reference = require "luabench.reference"
local response = require "luabench.response"
local site = require "luabench.site"

local call = {}

local send, step, settle = core.send, core.step, core.settle
local format, match, sub = string.format, string.match, string.sub

local GET_AFTER = { [301] = true, [302] = true, [303] = true }
local REDIRECTS = { [301] = true, [302] = true, [303] = true, [307] = true, [308] = true }

local function prepare(job)
  job.prepared, job.lines = site.choose(job.index, job.method, job.url, job.own, job.name, job.accept, job.type_line, job.version)
end

-- The user's state, while it runs: nil when it has none.
local function state_of()
  local _, state = core.scenario()
  return state
end

local function cookie_line(job)
  if not job.sends_cookies or (job.own and site.header(job.own, "cookie") ~= nil) then return "" end
  local state = state_of()
  local text = state and state.cookies and cookies.header(state.cookies, response.place(job.prepared))
  return text and "Cookie: " .. text .. "\r\n" or ""
end

-- Digests ----------------------------------------------------------------------------------------------------------------

-- Where the user keeps the server's last challenge: one for each origin and name.
local function protection_space(job)
  local scheme, host, port = reference.split(response.url(job.prepared))
  return format("%s://%s:%s %s", scheme, host, port, job.digest.user)
end

local function digest_line(job)
  if not job.digest then return "" end
  local state = state_of()
  job.challenge = state and state.challenges and state.challenges[protection_space(job)]
  if not job.challenge then return "" end
  local target = match(response.url(job.prepared), "^%a[%w+.-]*://[^/?#]*([^#]*)")
  if sub(target, 1, 1) ~= "/" then target = "/" .. target end
  return "Authorization: " .. auth.answer(job.challenge, job.digest.user, job.digest.password, job.method, target) .. "\r\n"
end

-- True when the answer is a challenge that has not been answered yet, or a new one because the nonce was stale: the next request will answer it. False and why when it
-- cannot be answered.
local function is_challenged(job, res)
  if not job.digest or res.status ~= 401 then return false end
  local challenge, why = auth.challenge(res:header_list "www-authenticate")
  local answered = job.answered or 0
  if not challenge then return false, not res.ok and why or nil end
  if answered > 1 or (answered == 1 and not challenge.stale) then return false end
  job.answered = answered + 1
  local state = core.state()
  state.challenges = state.challenges or {}
  state.challenges[protection_space(job)] = challenge
  return true
end

-- Redirects --------------------------------------------------------------------------------------------------------------

local function without(own, names)
  local result = {}
  for name, value in pairs(own or {}) do
    if type(name) ~= "string" or not names[name:lower()] then result[name] = value end
  end
  return result
end

local OF_A_BODY = { ["content-type"] = true, ["content-encoding"] = true, ["content-language"] = true, ["content-location"] = true }
local OF_AN_ORIGIN = { authorization = true, cookie = true, host = true }

local function same_origin(a, b)
  local scheme, host, port = reference.split(a)
  local other_scheme, other_host, other_port = reference.split(b)
  return scheme == other_scheme and host == other_host and port == other_port
end

-- What belongs to the origin that is left does not go to another one, neither what the request gave nor what the scenario does.
local function leave_origin(job)
  job.own = without(job.own, OF_AN_ORIGIN)
  local map = site.of[job.index].map
  for name in pairs(OF_AN_ORIGIN) do
    if map[name] then job.own[map[name][1]] = false end
  end
  job.digest, job.challenge = nil, nil
end

-- Turns the job into the request that follows. Returns why it cannot be made, or nil.
local function follow(job, res)
  local from, to = response.url(job.prepared), match(res.location, "^[^#]*")
  local why = not to:find("^[hH][tT][tT][pP][sS]?://") and "only http:// and https:// can be requested" or core.check_url(to)
  if why then return format("%d to %s: %s", res.status, errors.show(to), why) end
  if GET_AFTER[res.status] and job.method ~= "HEAD" then
    job.method, job.body, job.type_line = "GET", nil, nil
    job.own = job.own and without(job.own, OF_A_BODY)
  end
  if not same_origin(from, to) then leave_origin(job) end
  job.url = to
end

-- Why no further redirect is followed.
local function too_many(job, visited, to)
  local loop = to == response.url(job.prepared) and ": they go in a circle" or ""
  for _, each in ipairs(visited) do
    if each == to then loop = ": they go in a circle" end
  end
  return format("more than %d redirect%s%s, the last one to %s", job.redirects, job.redirects == 1 and "" or "s", loop, errors.show(to))
end

-- The loop ---------------------------------------------------------------------------------------------------------------

local function attempt(job, handle)
  prepare(job)
  local lines = (job.lines or "") .. cookie_line(job) .. digest_line(job)
  local respond = job.keeps_cookies and response.new or response.without_cookies
  return respond(job.prepared, send(job.prepared, lines ~= "" and lines or nil, job.body, job.timeout, handle))
end

-- What comes next after an answer: "redirected", "retried", or nil and perhaps why not.
local function next_step(job, res, visited)
  local challenged, problem = is_challenged(job, res)
  if challenged or problem then return challenged and "retried" or nil, problem end
  if job.redirects == 0 or not REDIRECTS[res.status] then return nil end
  if not res.location then return nil end
  if #visited == job.redirects then return nil, too_many(job, visited, res.location) end
  local from = response.url(job.prepared)
  local why = follow(job, res)
  if why then return nil, why end
  visited[#visited + 1] = from
  return "redirected"
end

local function judged(handle, ok, ...)
  if not ok then
    settle(handle, "expect ended by an error")
    error((...), 0)
  end
  return select("#", ...), ...
end

-- What `expect` has against the response: a text, or nil.
local function judge(job, res, handle)
  local count, verdict, text = judged(handle, pcall(job.expect, res))
  if count == 0 then
    settle(handle)
    errors.script("`expect` returned nothing; it must return true, or false and a text")
  end
  if verdict then return nil end
  return text ~= nil and tostring(text) or "expect returned " .. tostring(verdict)
end

--- Carries a job out; returns the last response.
function call.run(job)
  local handle, visited = core.call(), {}
  local res, following, why
  repeat
    res = attempt(job, handle)
    following, why = next_step(job, res, visited)
    if following then step(handle, following) end
  until not following
  res.redirects = #visited
  if not why and job.expect and res.ok then why = judge(job, res, handle) end
  if why then response.spoil(res, why) end
  settle(handle, why)
  return res
end

return call
