-- What tests/bench/http2 measures: every request is made by a coroutine, and status and size of every response are checked.
local p = params {
  users = 50,
  connections = { 0, "shared by the users; 0: one for each" },
  path = "/hello",
  size = { 13, "bytes of the body" },
  keep = { true, "bodies are kept until their response is thrown away" },
}

scenario "h2" {
  users = p.users,
  connections = p.connections > 0 and p.connections or nil,
  http = { insecure = true, discard_bodies = not p.keep },
  run = function()
    local res = http.get(p.path)
    check("status is 200", res.status == 200)
    check("size is right", res.size == p.size)
  end,
}
