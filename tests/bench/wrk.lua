-- The same for wrk. The request is made once, which is the cheapest that wrk can do with a script.
local text, wrong
function init() text, wrong = wrk.format("GET", "/hello"), 0 end
function request() return text end
function response(status, headers, body)
  if status ~= 200 or #body ~= 13 then wrong = wrong + 1 end
end
