-- 300 users ask for the same busy page and go away after two seconds: how many still get an answer?
scenario "300 users, fibonacci" {
  target = "http://127.0.0.1:8080",
  users = 300,
  ramp_up = "3s",
  duration = "20s",
  http = { timeout = "2s" },
  run = function()
    local res = http.get("/fibonacci/30")
    check("answered in time", res.error ~= "timeout", res.error_text)
  end,
}
