---@meta
-- What luabench gives to scripts, for editors with the Lua language server. Made by tools/manual.lua from lua/luabench/manual/*.lua.

---@alias luabench.Duration number|string

---@class luabench.Request : luabench.RequestOptions
---@field method? string
---@field url string

---@class luabench.Cookies
local Cookies = {}
---@param name string
---@param url? string
---@return string?
function Cookies:get(name, url) end
---@param name string
---@param value string
---@param opts? table
function Cookies:set(name, value, opts) end
function Cookies:clear() end

log, http, metric, file, json, text = {}, {}, {}, {}, {}, {}

---Defines who sends what: `scenario "name" { ... }`. A script has one or more; they run side by side.
---@param name string
---@param keys? luabench.Scenario
---@return any
function scenario(name, keys) end

---Keys for all scenarios of the script; their own win, `http` and `tags` merge.
---@param keys luabench.Scenario
function defaults(keys) end

---Compares servers in rounds: `compare "name" { targets = ..., cases = ..., rounds = 10 }`, with the keys of a scenario for all cases or for one. Commands need `--allow-run`.
---@param name string
---@param keys? luabench.Comparison
---@return any
function compare(name, keys) end

---Declares parameters with their defaults and help texts; returns their values. `-p NAME=VALUE` sets them, typed by the default; `--help` after the script lists them. With `secret = true` the value is shown as *** everywhere.
---@param specs table
---@return table
function params(specs) end

---Counts a pass or a failure under `name`, and returns the value. A function is an error: it would always pass. Never stops the iteration. The first `why` of the failures is shown. After 200 names, "(other)".
---@param name string
---@param value any
---@param why? any
---@return any
function check(name, value, why) end

---Like check, but a failure ends the iteration as failed.
---@param name string
---@param value any
---@param why? any
---@return any
function must(name, value, why) end

---Ends the iteration as failed. `pcall` catches it.
---@param text string
function fail(text) end

---A transaction with its own timing, sleep and pace left out; returns what the function returns. Groups nest as `outer/inner`. One that an error ends is counted as cut, not timed.
---@param name string
---@param run fun(): any
---@return any
function group(name, run) end

---Another line of work of the same user, with the same cookies, vars and connections. It ends with its iteration. An error that nobody waits for fails the iteration.
---@param run fun(...: any): any
---@param ... any
---@return luabench.Task
function spawn(run, ...) end

---Waits for a time, or for a random one between two.
---@param least luabench.Duration
---@param most? luabench.Duration
function sleep(least, most) end

---Waits until this long after the iteration was due, whatever the iteration took. A later one begins at once.
---@param period luabench.Duration
function pace(period) end

---Seconds of a clock that only goes forward.
---@return number
function now() end

---Ends this user; the others go on.
function stop_user() end

---Ends the whole run, with exit status 3.
---@param text? string
function stop_run(text) end

---What must hold for the run to pass: texts as for `--threshold`, or tables with such a text, `abort = true` (ends the run when it fails), `after` (not before) and `empty = "ok"` (no data is no failure). A metric of requests can be narrowed by scenario, name, method, status (`503`, `5xx`), error, group (with the groups inside it), phase (`run`, `on_start`, `on_stop`) and tags: `http.latency{method=POST, status=200}: p(95) < 1s`. In `http.errors` status and error choose the errors, the others the requests of which they are a share.
---@param list table
function thresholds(list) end

---Called once at the end with the results, as the JSON result file has them. May print, and return a table of texts by file name, which are written (with --allow-write).
---@param call fun(summary: table): table?
function report(call) end

---A line on standard error, at most 20 a second.
---@param ... any
function print(...) end

---A line on standard error, as print.
---@param ... any
function log.info(...) end

---A line on standard error.
---@param ... any
function log.warn(...) end

---A line on standard error.
---@param ... any
function log.error(...) end

---A line on standard error, with --debug alone.
---@param ... any
function log.debug(...) end

---The environment variables that `-e NAME` or `-e NAME=VALUE` gives to the script, and no others.
---@type table
env = nil

---@class luabench.Scenario
---@field run? fun(user: luabench.User, shared: any) One iteration. Required.
---@field target? string The base URL; the scheme picks TLS. `--target` and a URL on the command line override it.
---@field users? integer|string Closed loop: users that iterate one after another.
---@field duration? luabench.Duration How long iterations are started.
---@field iterations? integer|string Iterations in all, exact, shared by the users.
---@field iterations_per_user? integer|string Iterations of each user; 1 when no end is given.
---@field ramp_up? luabench.Duration User i starts at i * ramp_up / users.
---@field stages? table[] `{ users = N, over = D, hold = D }` (closed) or `{ rate = R, over = D, hold = D }` (open): linearly to the level, then it is held.
---@field rate? number|string Open loop: iterations started per time, whatever the server does.
---@field arrivals? string "constant", "poisson" or "poisson_exact".
---@field min_users? integer Open loop: users made before the first arrival.
---@field max_users? integer Open loop: most iterations at once.
---@field overflow? string An arrival that finds no free user: "queue" waits, and its latency counts from when it was due; "drop" is counted as dropped.
---@field start_after? luabench.Duration Delay of the scenario's start.
---@field warm_up? luabench.Duration Traffic at the start that is sent, shown, and left out of every result. `"auto"`: until the latency is steady, at most the first 30% of the duration.
---@field graceful_stop? luabench.Duration How long running iterations may finish after the end.
---@field connections? integer The scenario's users share so many connections instead of owning theirs.
---@field connections_per_user? integer Most connections that a user opens to one host.
---@field fresh? boolean Each iteration is a new visitor: no cookies, no connections, empty vars, on_start again.
---@field http? luabench.HttpOptions Options of all its requests.
---@field tags? table<string, string|number> Tags of every sample of the scenario.
---@field on_start? fun(user: luabench.User, shared: any) Once for each user before its first iteration, to log in, say. When it fails, so does the iteration, and it is tried again before the next.
---@field on_stop? fun(user: luabench.User, shared: any) Once for each user after its last iteration.
---@field setup? fun(): any Once, before any clock starts; what it returns is the second parameter of the other functions. Its requests are kept apart. An error ends the run.
---@field teardown? fun(shared: any) Once, at the end.
---@field thresholds? table As the global `thresholds`, over this scenario's own samples.
local Scenario = {}


---@class luabench.HttpOptions
---@field timeout? luabench.Duration From the call to the last byte, connecting included; open loop: from when it was due.
---@field connect_timeout? luabench.Duration For a connection to be there, TLS included.
---@field headers? table<string, string|number|false> Headers of every request.
---@field keep_alive? boolean false: a new connection for every request.
---@field requests_per_connection? integer A new connection after so many requests; 0: never.
---@field retry? boolean Send again what the server has not looked at: once, when a reused connection died before the answer began or a stream was refused; after a GOAWAY until it is taken. Counted in `retried`, and no error.
---@field max_body? integer|string The largest body that is read.
---@field auth? table `{ user, password }`, with `digest = true`, or `{ bearer = token }`.
---@field redirects? integer How many redirects are followed.
---@field cookies? boolean false: cookies are neither kept nor sent.
---@field discard_bodies? boolean true: bodies are read and thrown away.
---@field decode? boolean false: gzip and its like are not asked for and not decoded.
---@field pipeline? integer HTTP/1.1: requests that may wait for their answers on one connection: those of `http.batch`, of tasks, of users who share `connections`. A user who pipelines has one connection to a host unless `connections_per_user` says otherwise. Behind a response that ends its connection the others fail, or are sent again as `retry` says.
---@field version? string "1.1", "2" or "auto": over TLS what the server chooses, 1.1 in the clear.
---@field insecure? boolean true: any certificate is taken.
---@field ca? string A PEM file of authorities to trust instead of the system's.
---@field cert? string A client certificate (PEM).
---@field key? string Its key (PEM).
---@field sni? string The name that is sent and verified instead of the URL's host.
---@field min_tls? string The oldest version of TLS: "1.2" or "1.3".
---@field max_tls? string The newest version of TLS.
---@field ciphers? string The ciphers, as OpenSSL names them.
---@field resume? boolean false: every TLS connection begins anew.
---@field connect_to? string|table Where to connect to instead: "HOST1:PORT1:HOST2:PORT2".
---@field resolve? string|table Addresses of hosts: "HOST:PORT:ADDRESS".
---@field unix_socket? string The Unix socket to connect to.
---@field source_addresses? string|table Local addresses to come from, in turn.
---@field proxy? string The HTTP proxy to send through.
local HttpOptions = {}


---@class luabench.Comparison
---@field targets? luabench.Target[] The servers that are compared, at least two.
---@field cases? table[] What each of them is put through: `name`, and keys of a scenario. A case by `iterations` is measured whole, after a thrown-away warm-up (`warm_up`, 2s unless given); one by `duration` drops its own first `warm_up`.
---@field rounds? integer How often every slot is run, in an order that changes from round to round. 6 are the least for one comparison, 7 for two or three.
---@field baseline? string The target that the others are judged against; the first one unless given.
---@field pairs? string "all": a verdict for every pair.
local Comparison = {}


---@class luabench.Target
---@field name? string What it is called in the report.
---@field url? string Where it listens; the base of the requests.
---@field command? string[] The program that starts it, and its arguments; no shell reads them. Needs `--allow-run`. It is stopped after its turn, with everything that it started. Without a command it is only driven.
---@field env? table<string, string|number> Environment variables for the command.
---@field cwd? string The folder in which the command runs; the script's unless given.
---@field ready? string The path that must answer, three times in a row with a status below 500, before it is measured.
---@field ready_timeout? luabench.Duration How long it may take until then.
---@field stop_timeout? luabench.Duration How long it may take to end before it is killed.
---@field restart? boolean Started at its turn in each round and stopped after it, so that one server runs at a time; false: started once.
---@field pid? integer A process that luabench did not start: its CPU and memory are watched.
---@field port? integer The same, by the port on which it listens.
local Target = {}


---Sends GET and waits for the whole answer.
---@param url string
---@param opts? luabench.RequestOptions
---@return luabench.Response
function http.get(url, opts) end

---Sends HEAD.
---@param url string
---@param opts? luabench.RequestOptions
---@return luabench.Response
function http.head(url, opts) end

---Sends OPTIONS.
---@param url string
---@param opts? luabench.RequestOptions
---@return luabench.Response
function http.options(url, opts) end

---Sends DELETE.
---@param url string
---@param opts? luabench.RequestOptions
---@return luabench.Response
function http.delete(url, opts) end

---Sends POST with a body of one of the options `body`, `file`, `json`, `form` and `multipart`.
---@param url string
---@param opts? luabench.RequestOptions
---@return luabench.Response
function http.post(url, opts) end

---Sends PUT.
---@param url string
---@param opts? luabench.RequestOptions
---@return luabench.Response
function http.put(url, opts) end

---Sends PATCH.
---@param url string
---@param opts? luabench.RequestOptions
---@return luabench.Response
function http.patch(url, opts) end

---Sends any method.
---@param opts luabench.Request
---@return luabench.Response
function http.request(opts) end

---Sends several requests at the same time; the answers come in the same order. `limit` is how many at once.
---@param requests (string|luabench.Request)[]
---@param opts? table
---@return luabench.Response[]
function http.batch(requests, opts) end

---@class luabench.RequestOptions
---@field headers? table<string, string|number|false> Headers; `false` leaves one out that would be sent otherwise.
---@field path? table<string, string|number> Fills `{name}` in the URL, percent-encoded. The figures are kept under the template.
---@field query? table The query, percent-encoded, sorted by name.
---@field body? string The body as it is.
---@field file? string The path of a file that is sent as the body, streamed.
---@field json? any A value that is sent as JSON, with its Content-Type.
---@field form? table Fields that are sent as application/x-www-form-urlencoded.
---@field multipart? table Parts that are sent as multipart/form-data: `{ name, value }`, `{ name, file = PATH }`, `{ name, value = bytes, filename = , type = }`.
---@field timeout? luabench.Duration For the whole answer, connecting included; the scenario's otherwise.
---@field name? string The name under which its figures are kept, instead of method and path.
---@field tags? table<string, string|number> Tags of the request's figures.
---@field redirects? integer How many redirects are followed.
---@field auth? table `{ user, password }`, with `digest = true`, or `{ bearer = token }`.
---@field cookies? boolean false: without the user's cookies, and the answer's are not kept.
---@field expect_status? integer|string|table The statuses that are no errors: a number, a class as "2xx", or a list; otherwise 2xx and 3xx.
---@field expect? fun(res: luabench.Response): boolean, string? Judges the answer: false, and a text, make it the error `unexpected`.
---@field version? string "1.1", "2" or "auto", for this request.
local RequestOptions = {}


---@class luabench.Response
---@field status integer The status; 0 when no response arrived.
---@field ok boolean true for a complete response with an accepted status.
---@field error string? nil, or the error's name: dns, connect, connect_timeout, tls, timeout, reset, closed, protocol, too_large, refused_stream, no_ports, no_descriptors, status, unexpected, interrupted.
---@field error_text string? The error in words.
---@field body string The body, decoded; "" with discard_bodies or after an error of the transport.
---@field size integer Bytes of the body on the wire.
---@field headers table<string, string> Headers, in any case; several of a name are joined by ", ".
---@field cookies table<string, string> The values of the cookies that this answer sets.
---@field version string "1.0", "1.1" or "2".
---@field time table<string, number> Seconds: total, blocked, dns, connect, tls, send, wait, receive.
---@field url string Where it ended.
---@field redirects integer How many redirects were followed.
---@field location string? Where the answer points to, absolute.
local Response = {}

---The decoded body, or the value at a path like "items[1].id", counted from 1; nil and a text when there is none.
---@param path? string
---@return any, string?
function Response:json(path) end

---The body as an HTML document with :first(css), :all(css), :xpath(e), whose nodes have .text and :attr(name); or the text or attribute of the first match.
---@param css? string
---@param attr? string
---@return any, string?
function Response:html(css, attr) end

---Absolute URLs of the styles, scripts, images and icons of an HTML page.
---@return string[]
function Response:assets() end

---A URL in the page made absolute.
---@param url string
---@return string
function Response:link(url) end

---string.match on the body.
---@param pattern string
---@return string?
function Response:match(pattern) end

---The text of the body between two others.
---@param left string
---@param right string
---@return string?
function Response:between(left, right) end

---All headers of that name.
---@param name string
---@return string[]
function Response:header_list(name) end

---Names and values of all headers.
---@return fun(): string, string
function Response:each_header() end

---@class luabench.User
---@field id integer From 1, over all threads.
---@field iteration integer The number of its iteration, from 1.
---@field sequence integer The iteration's number over all users of the scenario, from 1.
---@field scenario string The scenario's name.
---@field vars table A table of the user's own.
---@field headers table? Headers of all requests of the user.
---@field auth table? As `auth` of a request, for all requests of the user.
---@field cookies luabench.Cookies The user's cookies: :get(name), :set(name, value), :clear().
local User = {}


---@class luabench.Task
---@field done boolean true when it has ended.
local Task = {}

---Waits for it and returns what its function returned; its error is raised here. After the timeout nil, "timeout".
---@param timeout? luabench.Duration
---@return any, string?
function Task:wait(timeout) end

---Ends it.
function Task:cancel() end

---@class luabench.Rows
local Rows = {}

---The next row. mode = "circular": all in turn, over all threads; "random": any; "unique": each once, and a user that finds none left ends.
---@return any
function Rows:next() end

---The row that belongs to the user, by user.id, beginning again after the last.
---@param user luabench.User
---@return any
function Rows:of(user) end

---All rows in order, for a loop.
---@return fun(): any
function Rows:each() end

---@class luabench.Metric
local Metric = {}

---Counts: :add() adds 1, :add(n) adds n.
---@param name string
---@return luabench.Metric
function metric.counter(name) end

---A value that is set: its last, least and greatest are kept.
---@param name string
---@return luabench.Metric
function metric.gauge(name) end

---A share: :add(true) or :add(false).
---@param name string
---@return luabench.Metric
function metric.rate(name) end

---A distribution; with { unit = "s" } of times.
---@param name string
---@param opts? table
---@return luabench.Metric
function metric.trend(name, opts) end

---@param value? number|boolean|table
---@param tags? table<string, string|number>
function Metric:add(value, tags) end
---@param value number
---@param tags? table<string, string|number>
function Metric:set(value, tags) end
---Rows of a CSV: tables by column name, cells are texts; with header = false lists of cells. `mode` as in rows:next.
---@param path string
---@param opts? table
---@return luabench.Rows
function file.csv(path, opts) end

---The elements of a JSON array.
---@param path string
---@param opts? table
---@return luabench.Rows
function file.json(path, opts) end

---The lines of a file.
---@param path string
---@param opts? table
---@return luabench.Rows
function file.lines(path, opts) end

---The whole file as a text.
---@param path string
---@return string
function file.text(path) end

---Uniform, from 0 up to but not including 1.
---@class luabench.Random
---@overload fun(): number
random = {}

---A whole number, both ends included.
---@param least integer
---@param most integer
---@return integer
function random.int(least, most) end

---One of a list, or one of the names of a table of weights.
---@param list table
---@return any
function random.pick(list) end

---Exponentially distributed: times between independent events.
---@param mean number
---@return number
function random.exp(mean) end

---Letters and digits.
---@param length integer
---@return string
function random.string(length) end

---Random bytes.
---@param length integer
---@return string
function random.bytes(length) end

---A random UUID.
---@return string
function random.uuid() end

---The value as JSON; `{}` is an object.
---@param value any
---@return string
function json.encode(value) end

---The value of a JSON text; nil and what is wrong with it.
---@param text string
---@return any, string?
function json.decode(text) end

---Marks a table as a list, so that an empty one becomes [].
---@param list table
---@return table
function json.array(list) end

---The null of JSON.
---@type any
json.null = nil

---The text between two others; nil when they are not there.
---@param s string
---@param left string
---@param right string
---@return string?
function text.between(s, left, right) end

---Percent-encoded for a part of a URL.
---@param s string|number
---@return string
function text.url_encode(s) end

---Base64.
---@param s string
---@return string
function text.base64(s) end

---SHA-256 in hexadecimal digits, or in the form "base64" or "raw".
---@param s string
---@param form? string
---@return string
function text.sha256(s, form) end

---HMAC-SHA-256, likewise.
---@param key string
---@param s string
---@param form? string
---@return string
function text.hmac(key, s, form) end
