-- The same for wrk, in the manner of wrk's own examples: request() formats each request. With the argument "once" it is formatted once, which is the
-- cheapest that wrk can do with a script.
local wrong = 0

function request() return wrk.format("GET", "/hello") end

function init(args)
  if args[1] ~= "once" then return end
  local text = wrk.format("GET", "/hello")
  request = function() return text end
end

function response(status, headers, body)
  if status ~= 200 or #body ~= 13 then wrong = wrong + 1 end
end
