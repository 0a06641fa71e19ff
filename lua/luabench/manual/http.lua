-- The manual's entries of http.* and of a request's options.
local function method(name, what, example)
  return { ("http.%s(url: string, opts?: RequestOptions): Response"):format(name), what, example }
end

return { { title = "Requests", name = "http", text = [[A URL that begins with `/` is appended to the scenario's target. A request never throws for what the network or the server does: look at the response.]], entries = {
  method("get", "Sends GET and waits for the whole answer.", [[local res = http.get("/hello")
check("status is 200", res.status == 200)]]),
  method("head", "Sends HEAD.", [[check("has no body", http.head("/hello").body == "")]]),
  method("options", "Sends OPTIONS.", [[http.options("/hello")]]),
  method("delete", "Sends DELETE.", [[http.delete("/echo")]]),
  method("post", "Sends POST with a body of one of the options `body`, `file`, `json`, `form` and `multipart`.", [[local res = http.post("/echo", { json = { name = "anna" } })
check("came back", res:json("name") == "anna")]]),
  method("put", "Sends PUT.", [[http.put("/echo", { body = "text" })]]),
  method("patch", "Sends PATCH.", [[http.patch("/echo", { json = { n = 1 } })]]),
  { "http.request(opts: Request): Response", "Sends any method.", [[http.request { method = "PURGE", url = "/hello", headers = { ["X-Why"] = "test" } }]] },
  { "http.batch(requests: (string|Request)[], opts?: table): Response[]", "Sends several requests at the same time; the answers come in the same order. `limit` is how many at once.", [[local list = http.batch({ "/hello", { method = "POST", url = "/echo", json = { n = 1 } } }, { limit = 6 })
check("all ok", list[1].ok and list[2].ok)]] },
} },
{ title = "Options of a request", name = "opts", class = "RequestOptions", text = [[The second argument of http.get and its like. A request's options beat the user's (`user.headers`, `user.auth`), which beat the scenario's.]], entries = {
  { "opts.headers: table<string, string|number|false>", "Headers; `false` leaves one out that would be sent otherwise.", [[http.get("/hello", { headers = { Accept = "text/html", ["User-Agent"] = false } })]] },
  { "opts.path: table<string, string|number>", "Fills `{name}` in the URL, percent-encoded. The figures are kept under the template.", [[http.get("/bytes/{n}", { path = { n = 10 } })]] },
  { "opts.query: table", "The query, percent-encoded, sorted by name.", [[http.get("/hello", { query = { q = "a b", page = 2 } })]] },
  { "opts.body: string", "The body as it is.", [[http.post("/echo", { body = "text" })]] },
  { "opts.file: string", "The path of a file that is sent as the body, streamed.", [[http.post("/echo", { file = "users.csv" })]] },
  { "opts.json: any", "A value that is sent as JSON, with its Content-Type.", [[http.post("/echo", { json = { items = json.array { 1, 2 } } })]] },
  { "opts.form: table", "Fields that are sent as application/x-www-form-urlencoded.", [[http.post("/echo", { form = { user = "anna", password = "x" } })]] },
  { "opts.multipart: table", "Parts that are sent as multipart/form-data: `{ name, value }`, `{ name, file = PATH }`, `{ name, value = bytes, filename = , type = }`.", [[http.post("/echo", { multipart = { { "title", "a" }, { "upload", file = "users.csv" } } })]] },
  { "opts.timeout: Duration", "For the whole answer, connecting included; the scenario's otherwise.", [[http.get("/hello", { timeout = "5s" })]] },
  { "opts.name: string", "The name under which its figures are kept, instead of method and path.", [[http.get("/hello?id=" .. user.id, { name = "item" })]] },
  { "opts.tags: table<string, string|number>", "Tags of the request's figures.", [[http.get("/hello", { tags = { page = "start" } })]] },
  { "opts.redirects: integer", "How many redirects are followed.", [[http.get("/hello", { redirects = 5 })]] },
  { "opts.auth: table", "`{ user, password }`, with `digest = true`, or `{ bearer = token }`.", [[http.get("/hello", { auth = { "anna", "secret" } })]] },
  { "opts.cookies: boolean", "false: without the user's cookies, and the answer's are not kept.", [[http.get("/hello", { cookies = false })]] },
  { "opts.expect_status: integer|string|table", "The statuses that are no errors: a number, a class as \"2xx\", or a list; otherwise 2xx and 3xx.", [[check("is missing", http.get("/status/404", { expect_status = { 404, "2xx" } }).ok)]] },
  { "opts.expect: fun(res: Response): boolean, string?", "Judges the answer: false, and a text, make it the error `unexpected`.", [[http.get("/hello", { expect = function(res) return res.size > 0, "the body is empty" end })]] },
  { "opts.version: string", "\"1.1\", \"2\" or \"auto\", for this request.", [[http.get("/hello", { version = "1.1" })]] },
} } }
