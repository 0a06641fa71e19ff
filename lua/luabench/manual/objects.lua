-- The manual's entries of responses, users, tasks, rows and metrics.
return { { title = "Responses", name = "res", class = "Response", text = "What a request returns. It can be kept as long as one likes.", entries = {
  { "res.status: integer", "The status; 0 when no response arrived.", [[check("is ok", http.get("/hello").status == 200)]] },
  { "res.ok: boolean", "true for a complete response with an accepted status.", [[check("is ok", http.get("/hello").ok)]] },
  { "res.error: string?", "nil, or the error's name: dns, connect, connect_timeout, tls, timeout, reset, closed, protocol, too_large, refused_stream, no_ports, no_descriptors, status, unexpected, interrupted.", [[local res = http.get("/status/500")
check("failed", res.error == "status")]] },
  { "res.error_text: string?", "The error in words.", [[local res = http.get("/hello")
check("no error", res.ok, res.error_text)]] },
  { "res.body: string", "The body, decoded; \"\" with discard_bodies or after an error of the transport.", [[check("has a body", #http.get("/hello").body > 0)]] },
  { "res.size: integer", "Bytes of the body on the wire.", [[check("ten bytes", http.get("/bytes/10").size == 10)]] },
  { "res.headers: table<string, string>", "Headers, in any case; several of a name are joined by \", \".", [[local length = http.get("/hello").headers["content-length"] ]] },
  { "res.cookies: table<string, string>", "The values of the cookies that this answer sets.", [[local session = http.get("/hello").cookies.session]] },
  { "res.version: string", "\"1.0\", \"1.1\" or \"2\".", [[check("is 1.1", http.get("/hello").version == "1.1")]] },
  { "res.time: table<string, number>", "Seconds: total, blocked, dns, connect, tls, send, wait, receive.", [[check("is quick", http.get("/hello").time.total < 5)]] },
  { "res.url: string", "Where it ended.", [[print(http.get("/hello").url)]] },
  { "res.redirects: integer", "How many redirects were followed.", [[check("none", http.get("/hello").redirects == 0)]] },
  { "res.location: string?", "Where the answer points to, absolute.", [[check("stays", http.get("/hello").location == nil)]] },
  { "res:json(path?: string): any, string?", "The decoded body, or the value at a path like \"items[1].id\", counted from 1; nil and a text when there is none.", [[local res = http.post("/echo", { json = { items = { { id = 7 } } } })
check("is 7", res:json("items[1].id") == 7)]] },
  { "res:html(css?: string, attr?: string): any, string?", "The body as an HTML document with :first(css), :all(css), :xpath(e), whose nodes have .text and :attr(name); or the text or attribute of the first match.", [[local doc = http.get("/hello"):html()]] },
  { "res:assets(): string[]", "Absolute URLs of the styles, scripts, images and icons of an HTML page.", [[local urls = http.get("/hello"):assets()]] },
  { "res:link(url: string): string", "A URL in the page made absolute.", [[local url = http.get("/hello"):link("next")]] },
  { "res:match(pattern: string): string?", "string.match on the body.", [[local id = http.get("/hello"):match("id=(%d+)")]] },
  { "res:between(left: string, right: string): string?", "The text of the body between two others.", [[local title = http.get("/hello"):between("<title>", "</title>")]] },
  { "res:header_list(name: string): string[]", "All headers of that name.", [[for _, cookie in ipairs(http.get("/hello"):header_list("set-cookie")) do print(cookie) end]] },
  { "res:each_header(): fun(): string, string", "Names and values of all headers.", [[for name, value in http.get("/hello"):each_header() do local line = name .. ": " .. value end]] },
} },
{ title = "Users", name = "user", class = "User", text = "The first parameter of `run`. What belongs to a user goes into user.vars.", entries = {
  { "user.id: integer", "From 1, over all threads.", [[print("user " .. user.id)]] },
  { "user.iteration: integer", "The number of its iteration, from 1.", [[if user.iteration == 1 then http.get("/hello") end]] },
  { "user.sequence: integer", "The iteration's number over all users of the scenario, from 1.", [[http.get("/hello?order=" .. user.sequence)]] },
  { "user.scenario: string", "The scenario's name.", [[print(user.scenario)]] },
  { "user.vars: table", "A table of the user's own.", [[user.vars.count = (user.vars.count or 0) + 1]] },
  { "user.headers: table?", "Headers of all requests of the user.", [[user.headers = { Authorization = "Bearer abc" }
http.get("/hello")]] },
  { "user.auth: table?", "As `auth` of a request, for all requests of the user.", [[user.auth = { bearer = "abc" }
http.get("/hello")]] },
  { "user.cookies: Cookies", "The user's cookies: :get(name), :set(name, value), :clear().", [[user.cookies:set("theme", "dark")
check("is there", user.cookies:get("theme") == "dark")
user.cookies:clear()]] },
} },
{ title = "Tasks", name = "task", class = "Task", text = "What spawn returns.", entries = {
  { "task.done: boolean", "true when it has ended.", [[local task = spawn(function() end)
task:wait()
check("is done", task.done)]] },
  { "task:wait(timeout?: Duration): any, string?", "Waits for it and returns what its function returned; its error is raised here. After the timeout nil, \"timeout\".", [[local task = spawn(http.get, "/hello")
check("is ok", task:wait("5s").ok)]] },
  { "task:cancel()", "Ends it.", [[local task = spawn(sleep, 60)
task:cancel()]] },
} },
{ title = "Rows of a file", name = "rows", class = "Rows", text = "What file.csv, file.lines and file.json return. `rows[i]` is a row, `#rows` their number.", entries = {
  { "rows:next(): any", "The next row. mode = \"circular\": all in turn, over all threads; \"random\": any; \"unique\": each once, and a user that finds none left ends.", [[-- top: local rows = file.lines("ids.txt")
http.get("/hello?id=" .. rows:next())]] },
  { "rows:of(user: User): any", "The row that belongs to the user, by user.id, beginning again after the last.", [[-- top: local rows = file.csv("users.csv")
http.get("/hello?name=" .. rows:of(user).name)]] },
  { "rows:each(): fun(): any", "All rows in order, for a loop.", [[-- top: local rows = file.csv("users.csv")
for row in rows:each() do local name = row.name end]] },
} },
{ title = "Metrics of a script", name = "metrics", class = "Metric", text = "Made by metric.counter and its like at the top of the script; tags are the last argument of :add and :set.", entries = {
  { "metric.counter(name: string): Metric", "Counts: :add() adds 1, :add(n) adds n.", [[-- top: local orders = metric.counter("shop.orders")
orders:add()
orders:add(2, { page = "cart" })]] },
  { "metric.gauge(name: string): Metric", "A value that is set: its last, least and greatest are kept.", [[-- top: local stock = metric.gauge("shop.stock")
stock:set(17)]] },
  { "metric.rate(name: string): Metric", "A share: :add(true) or :add(false).", [[-- top: local paid = metric.rate("shop.paid")
paid:add(true)]] },
  { "metric.trend(name: string, opts?: table): Metric", "A distribution; with { unit = \"s\" } of times.", [[-- top: local checkout = metric.trend("shop.checkout", { unit = "s" })
checkout:add(http.get("/hello").time.total)]] },
} } }
