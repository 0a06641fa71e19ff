-- People read before they click. sleep() waits; pace() makes an iteration start at fixed distances, however long its requests took.
scenario "think time" {
  target = "http://127.0.0.1:8080",
  users = 100,
  ramp_up = "2s",
  duration = "10s",
  run = function()
    check("list is there", http.get("/hello").status == 200)
    sleep("200ms", "800ms")
    check("page is there", http.get("/bytes/10000").size == 10000)
    pace("2s")
  end,
}
