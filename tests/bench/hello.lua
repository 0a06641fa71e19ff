-- What tests/bench/http1 measures: every request is made by a coroutine, and status and body length of every response are checked.
scenario "hello" {
  users = 50,
  run = function()
    local res = http.get("/hello")
    check("status is 200", res.status == 200)
    check("body has 13 bytes", #res.body == 13)
  end,
}
