-- The manual's entries of file, random, json and text.
return { { title = "Files", name = "file", text = "Sources are made at the top of a script; a file is read once for all users and threads. Paths are relative to the script. Files below its folder can be read; --root and --allow-read widen that.", entries = {
  { "file.csv(path: string, opts?: table): Rows", "Rows of a CSV: tables by column name, cells are texts; with header = false lists of cells. `mode` as in rows:next.", [[-- top: local users = file.csv("users.csv", { mode = "circular" })
http.post("/echo", { form = { name = users:next().name } })]] },
  { "file.json(path: string, opts?: table): Rows", "The elements of a JSON array.", [[-- top: local items = file.json("items.json", { mode = "random" })
http.get("/hello?id=" .. items:next().id)]] },
  { "file.lines(path: string, opts?: table): Rows", "The lines of a file.", [[-- top: local ids = file.lines("ids.txt")
http.get("/hello?id=" .. ids:next())]] },
  { "file.text(path: string): string", "The whole file as a text.", [[-- top: local body = file.text("ids.txt")
http.post("/echo", { body = body })]] },
} },
{ title = "Random choices", name = "random", text = "Drawn from the user's own generator, so that --seed repeats them over any number of threads. `math.random` draws from it too.", entries = {
  { "random(): number", "Uniform, from 0 up to but not including 1.", [[if random() < 0.1 then http.get("/hello") end]] },
  { "random.int(least: integer, most: integer): integer", "A whole number, both ends included.", [[http.get("/bytes/" .. random.int(1, 100))]] },
  { "random.pick(list: table): any", "One of a list, or one of the names of a table of weights.", [[local action = random.pick { browse = 70, buy = 30 }
http.get(random.pick { "/hello", "/bytes/10" }, { name = action })]] },
  { "random.exp(mean: number): number", "Exponentially distributed: times between independent events.", [[sleep(random.exp(0.001))]] },
  { "random.string(length: integer): string", "Letters and digits.", [[http.get("/hello?x=" .. random.string(8))]] },
  { "random.bytes(length: integer): string", "Random bytes.", [[http.post("/echo", { body = random.bytes(100) })]] },
  { "random.uuid(): string", "A random UUID.", [[http.get("/hello", { headers = { ["X-Request-Id"] = random.uuid() } })]] },
} },
{ title = "JSON", name = "json", text = "Whole numbers below 2^53 are exact; larger ones are read as texts of their digits.", entries = {
  { "json.encode(value: any): string", "The value as JSON; `{}` is an object.", [[http.post("/echo", { body = json.encode { name = "anna" } })]] },
  { "json.decode(text: string): any, string?", "The value of a JSON text; nil and what is wrong with it.", [[local value = json.decode('{"n": [1, null]}')
check("has null", value.n[2] == json.null)]] },
  { "json.array(list: table): table", "Marks a table as a list, so that an empty one becomes [].", [[http.post("/echo", { json = { items = json.array {} } })]] },
  { "json.null: any", "The null of JSON.", [[http.post("/echo", { json = { parent = json.null } })]] },
} },
{ title = "Texts", name = "text", text = "What requests need to be done to texts.", entries = {
  { "text.between(s: string, left: string, right: string): string?", "The text between two others; nil when they are not there.", [[local token = text.between("a [b] c", "[", "]")
check("is b", token == "b")]] },
  { "text.url_encode(s: string|number): string", "Percent-encoded for a part of a URL.", [[http.get("/hello?q=" .. text.url_encode("a b&c"))]] },
  { "text.base64(s: string): string", "Base64.", [[http.get("/hello", { headers = { ["X-Key"] = text.base64("key") } })]] },
  { "text.sha256(s: string, form?: string): string", "SHA-256 in hexadecimal digits, or in the form \"base64\" or \"raw\".", [[http.get("/hello", { headers = { Digest = text.sha256("body") } })]] },
  { "text.hmac(key: string, s: string, form?: string): string", "HMAC-SHA-256, likewise.", [[http.get("/hello", { headers = { ["X-Signature"] = text.hmac("key", "body", "base64") } })]] },
} } }
