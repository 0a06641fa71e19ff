-- A visitor of a shop logs in, looks for something, buys it and is thanked. The shop: PORT=8080 node examples/servers/shop.mjs
-- One answer in 20 of the shop is a failure, so the thresholds allow that, and not much more.
local members = file.csv("shop-users.csv", { mode = "circular" })
local order_time = metric.trend("shop.order", { unit = "s" })

local function log_in(user)
  local token = must("login page has a token", http.get("/login"):html("input[name=csrf]", "value"))
  local who = members:next()
  local res = http.post("/login", { form = { name = who.name, password = who.password, csrf = token }, redirects = 1 })
  must("logged in", res.ok and res.redirects == 1, res.error_text)
  user.headers = { ["X-CSRF-Token"] = token }
end

local function find()
  local res = http.get("/search", { query = { q = random.pick { "lamp", "chair", "e" } }, name = "search" })
  must("found something", res:json("items[1]"), res.error_text)
  return random.pick(res:json("items"))
end

local function buy(product)
  local begin = now()
  local count = random.int(1, 3)
  local cart = http.post("/cart", { json = { product = product.id, count = count } })
  must("cart is right", cart.ok and cart:json("total") == count * product.price, cart.error_text)
  local wishes = http.post("/wishes", { multipart = { { "list", file = "shop-users.csv" } }, expect_status = 201 })
  check("wishes arrived", wishes:json("lines") == #members + 1, wishes.error_text)
  local order = http.post("/checkout", { redirects = 1 })
  must("thanked", order.ok and order:html(".thanks b"), order.error_text)
  order_time:add(now() - begin)
end

scenario "shop" {
  target = "http://127.0.0.1:8080",
  users = 10,
  duration = "10s",
  fresh = true,
  run = function(user)
    group("log in", function() log_in(user) end)
    local product = group("find", find)
    group("buy", function() buy(product) end)
    sleep(0, "20ms")
  end,
}

thresholds {
  "http.latency{name=POST /checkout}: p(95) < 2s",
  "http.errors: rate < 6%",
  "checks: rate > 90%",
  "shop.order: p(95) < 5s",
  "group.duration{group=buy}: p(95) < 5s",
}
