-- What tests/bench/long runs for a long time: what a journey of a shop uses, at full speed. Cookies that change, JSON both ways, checks, groups, path templates, tags,
-- tasks, errors that are caught, and metrics of the script's own.
local p = params { users = 50 }
local stock = metric.trend("stock")
local bought = metric.counter("bought")

scenario "journey" {
  users = p.users,
  http = { insecure = true, timeout = "10m" }, -- a machine that stood still for a while is no failure
  run = function(user)
    user.vars.visits = (user.vars.visits or 0) + 1
    local item
    group("look", function()
      local res = http.get("/item/{id}", { path = { id = random.int(1, 100000) }, tags = { page = "item" } })
      item = res:json()
      check("status is 200", res.status == 200)
      check("is a kettle", item and item.name == "kettle")
      check("has a cookie", user.cookies:get("session") ~= nil)
    end)
    group("buy", function()
      local other = spawn(function() return http.get("/hello").body end)
      local res = http.post("/cart", { json = { id = item.id, visit = user.vars.visits, note = random.string(20) } })
      check("is in the cart", res.ok and res.headers["content-type"]:find("json", 1, true) ~= nil)
      check("says hello", other:wait() == "Hello, World!")
    end)
    pcall(fail, "caught")
    stock:add(item.stock.here)
    bought:add(1)
  end,
}
