-- The smallest useful test: ask for one page for ten seconds and look at every answer.
--   luabench examples/hello.lua --target http://127.0.0.1:8080 --users 50
scenario "hello" {
  target = "http://127.0.0.1:8080",
  users = 10,
  duration = "10s",
  run = function()
    local res = http.get("/hello")
    check("status is 200", res.status == 200)
    check("says hello", res.body == "hello, world\n")
  end,
}
