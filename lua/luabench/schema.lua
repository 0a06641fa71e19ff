-- Every key of a scenario, of its `http` table and of a request's options: one row each. The rows drive checking, defaults, suggestions and the
-- effective values of the plan. To add a key, add a row here and take it off the list in later.lua.
--
-- kind: see options.lua; default: the effective value when the script gives none; place: where the key belongs, for messages.
local schema = {}

schema.scenario = {
  { "run", kind = "function" },
  { "target", kind = "target" },
  { "users", kind = "count", default = 1, most = 1e7 },
  { "duration", kind = "positive_duration" },
  { "iterations", kind = "count" },
  { "iterations_per_user", kind = "count" },
  { "ramp_up", kind = "duration", default = 0 },
  { "stages", kind = "stages" },
  { "rate", kind = "rate" },
  { "arrivals", kind = "arrivals", default = "constant" },
  { "min_users", kind = "count", most = 1e6 },
  { "max_users", kind = "count", most = 1e6 },
  { "overflow", kind = "overflow", default = "queue" },
  { "start_after", kind = "duration", default = 0 },
  { "warm_up", kind = "warm_up", default = 0 },
  { "graceful_stop", kind = "duration", default = 30 },
  { "fresh", kind = "boolean", default = false },
  { "on_start", kind = "hook" },
  { "on_stop", kind = "hook" },
  { "setup", kind = "hook" },
  { "teardown", kind = "hook" },
  { "connections", kind = "count", most = 1e6 },
  { "connections_per_user", kind = "count", default = 6, most = 1e4 },
  { "tags", kind = "tags" },
  { "http", kind = "http" },
  { "thresholds", kind = "thresholds" },
}

schema.http = {
  { "timeout", kind = "positive_duration", default = 30 },
  { "connect_timeout", kind = "positive_duration", default = 10 },
  { "headers", kind = "headers" },
  { "keep_alive", kind = "boolean", default = true },
  { "requests_per_connection", kind = "count", default = 0 },
  { "retry", kind = "boolean", default = true },
  { "max_body", kind = "size", default = 64 * 1024 * 1024 },
  { "auth", kind = "auth" },
  { "redirects", kind = "hops", default = 0 },
  { "cookies", kind = "boolean", default = true },
  { "discard_bodies", kind = "boolean", default = false },
  { "decode", kind = "boolean", default = true },
  { "version", kind = "http_version", default = "auto" },
  { "insecure", kind = "boolean", default = false },
  { "ca", kind = "path" },
  { "cert", kind = "path" },
  { "key", kind = "path" },
  { "sni", kind = "sni" },
  { "min_tls", kind = "tls_version" },
  { "max_tls", kind = "tls_version" },
  { "ciphers", kind = "text" },
  { "resume", kind = "boolean", default = true },
  { "connect_to", kind = "connect_to_list" },
  { "resolve", kind = "resolve_list" },
  { "unix_socket", kind = "path" },
  { "source_addresses", kind = "source_address_list" },
  { "proxy", kind = "proxy" },
  { "pipeline", kind = "count", default = 1, most = 1000 },
}

schema.request = {
  { "headers", kind = "headers" },
  { "body", kind = "string" },
  { "json", kind = "any" },
  { "query", kind = "table" },
  { "timeout", kind = "positive_duration" },
  { "name", kind = "string" },
  { "path", kind = "table" },
  { "file", kind = "string" },
  { "form", kind = "table" },
  { "multipart", kind = "table" },
  { "tags", kind = "table" },
  { "redirects", kind = "hops" },
  { "auth", kind = "auth" },
  { "cookies", kind = "boolean" },
  { "expect_status", kind = "any" },
  { "expect", kind = "function" },
  { "version", kind = "http_version" },
}

-- What other tools call our keys (k6, Locust, Artillery, wrk, hey, JMeter, Vegeta): name → ours, or a sentence.
schema.foreign = {
  vus = "users", VUs = "users", vu = "users", concurrency = "users", clients = "users", virtual_users = "users", num_users = "users", workers = "users",
  requests = "iterations", num_requests = "iterations", count = "iterations", loops = "iterations", loop_count = "iterations", repeats = "iterations",
  iterationsPerVu = "iterations_per_user", iterations_per_vu = "iterations_per_user",
  rps = "rate", qps = "rate", throughput = "rate", arrival_rate = "rate", arrivalRate = "rate", constant_arrival_rate = "rate",
  exec = "run", fn = "run", func = "run", main = "run", default = "run", flow = "run", script = "run", tasks = "run", task = "run", ["function"] = "run",
  base_url = "target", baseUrl = "target", baseURL = "target", base = "target", host = "target", url = "target", uri = "target", server = "target",
  think_time = "write sleep(1) or sleep(1, 3) in `run`", thinkTime = "write sleep(1) or sleep(1, 3) in `run`",
  wait_time = "write sleep(1) or sleep(1, 3) in `run`", pacing = "write pace(5) in `run`", sleep = "write sleep(1) in `run`",
  time = "duration", maxDuration = "duration", max_duration = "duration", run_time = "duration", runtime = "duration", length = "duration",
  spawn_rate = "ramp_up", hatch_rate = "ramp_up", ramp = "ramp_up", ramp_time = "ramp_up", rampTo = "ramp_up", delay = "start_after",
  startTime = "start_after", start_time = "start_after", gracefulStop = "graceful_stop", grace = "graceful_stop", graceful_ramp_down = "graceful_stop",
  threads = "threads are of the whole run: `-t 4` on the command line",
  executor = "the keys choose the load: `users` with `duration` or `iterations`",
  name = 'the name stands before the braces: scenario "name" { ... }',
  checks = "write check(\"name\", condition) in `run`",
  startup = "on_start", before = "on_start", after = "on_stop",
}

schema.foreign_http = {
  request_timeout = "timeout", read_timeout = "timeout", connection_timeout = "connect_timeout", header = "headers", keepalive = "keep_alive",
  keepAlive = "keep_alive", http_version = "version", verify = "insecure", insecureSkipTLSVerify = "insecure", user_agent = 'headers = { ["User-Agent"] = "..." }',
  follow_redirects = "redirects", maxRedirects = "redirects", max_redirects = "redirects",
  http2 = "version", h2 = "version", alpn = "version", protocol = "version", servername = "sni", server_name = "sni", cacert = "ca", ca_cert = "ca", cafile = "ca",
  ca_file = "ca", client_cert = "cert", certificate = "cert", client_key = "key", private_key = "key", local_address = "source_addresses",
  tls = "these stand here themselves: insecure, ca, cert, key, sni, min_tls, max_tls, ciphers, resume",
  ssl = "these stand here themselves: insecure, ca, cert, key, sni, min_tls, max_tls, ciphers, resume",
  streams = "users share connections with the scenario's key `connections`", max_streams = "users share connections with the scenario's key `connections`",
}

schema.foreign_request = {
  data = "body", payload = "body", content = "body", header = "headers", params = "query", qs = "query", query_string = "query",
  search = "query", tag = "tags", timeouts = "timeout", label = "name", follow = "redirects", allow_redirects = "redirects", maxRedirects = "redirects",
  max_redirects = "redirects", follow_redirects = "redirects", files = "multipart", form_data = "multipart", formData = "multipart", basic_auth = "auth", credentials = "auth",
  http_version = "version", http2 = "version",
  token = "auth = { bearer = token }", bearer = "auth = { bearer = token }", status = "expect_status", expected_status = "expect_status", validate = "expect",
  method = 'http.request { method = "...", url = "..." }', url = 'http.request { method = "...", url = "..." }',
}

return schema
