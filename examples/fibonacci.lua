-- One user asks for a page that keeps a core busy, again and again: how long does one answer take when nothing else goes on?
scenario "one user, fibonacci" {
  target = "http://127.0.0.1:8080",
  users = 1,
  duration = "20s",
  run = function()
    local res = http.get("/fibonacci/30")
    check("status is 200", res.status == 200)
    check("is the 30th number", tonumber(res.body) == 832040)
  end,
}
