-- Each user logs in once, keeps its token and browses with it. user.vars belongs to one user and lives across its iterations.
local function log_in(user)
  local res = http.post("/echo", { json = { token = "token-" .. user.id } })
  must("logged in", res.ok, res.error_text)
  user.vars.token = res:json("token")
end

scenario "log in, then browse" {
  target = "http://127.0.0.1:8080",
  users = 20,
  iterations_per_user = 10,
  run = function(user)
    if not user.vars.token then log_in(user) end
    local res = http.get("/hello", { headers = { Authorization = "Bearer " .. user.vars.token } })
    check("page is there", res.status == 200)
    sleep(0.1, 0.5)
  end,
}
