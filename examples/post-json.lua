-- Sends JSON and looks into the JSON that comes back (the built-in target echoes what it gets).
scenario "post JSON" {
  target = "http://127.0.0.1:8080",
  users = 10,
  duration = "10s",
  run = function(user)
    local res = http.post("/echo", { json = { user = user.id, items = { "pen", "ink" } } })
    check("accepted", res.ok, res.error_text)
    check("my own order came back", res:json("user") == user.id)
    check("both items are there", res:json("items[2]") == "ink")
  end,
}
