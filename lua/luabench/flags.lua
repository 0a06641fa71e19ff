-- The options of the command line: one row each, in the groups in which --help shows them. To add one, add a row and use its key in plan.lua,
-- quick.lua or main.lua.
--
-- key: field of the table that cli.parse returns; then the letter (or false), the long name, the name of its value (nil: a switch), its help.
-- kind: reader of the value, see cli.lua; many: may be repeated, gives a list; also: long names of other tools; example: shown when the value is
-- missing; what: the option in words, for "-d is the duration".
local flags = {}

flags.run = {
  { title = "How much load",
    { "users", "-c", "--users", "N", "concurrent users, each with its own connection (quick mode: 10)", kind = "count", example = "50",
      what = "the number of users", also = "--vus --connections --concurrency --clients" },
    { "duration", "-d", "--duration", "TIME", "how long: 30s, 5m, 1h; a bare number is seconds (quick mode: 10s)", kind = "positive_duration", example = "30s",
      what = "the duration" },
    { "iterations", "-n", "--iterations", "N", "how many iterations in total, exactly: 1000, 10k, 5M", kind = "count", example = "1000",
      what = "the number of iterations", also = "--requests" },
    { "rate", "-R", "--rate", "RATE", "open loop: so many iterations a second, whatever the server does; -c is then the most at a time", kind = "rate",
      example = "1000", what = "the rate", also = "-q --rps" },
    { "arrivals", false, "--arrivals", "KIND", "how they come: constant, poisson or poisson_exact (constant)", kind = "arrivals", example = "poisson",
      what = "the kind of arrivals" },
    { "stages", false, "--stages", "N/TIME,...", "users that come and go: 10/30s,100/5m ramps to 10 over 30s, then to 100 over 5m", kind = "user_stages",
      example = "10/30s,100/5m", what = "the stages of users" },
    { "rate_stages", false, "--rate-stages", "RATE/TIME,...", "the same for rates", kind = "rate_stages", example = "100/30s,1000/5m", what = "the stages of rates" },
    { "warm_up", false, "--warm-up", "TIME", "leave the first part of the load out of the results", kind = "warm_up", example = "10s", what = "the warm-up" },
    { "ramp_up", false, "--ramp-up", "TIME", "start the users one after another over this time", kind = "duration", example = "10s", what = "the ramp-up time" },
    { "graceful_stop", false, "--graceful-stop", "TIME", "how long running iterations may finish after the end (30s)", kind = "duration", example = "5s",
      what = "the time for running iterations to finish" },
    { "threads", "-t", "--threads", "N", "worker threads (as many as cores, never more than users)", kind = "threads", example = "2",
      what = "the number of threads" },
    { "share", false, "--share", "I/N", "carry the I-th of N shares of the load: other machines carry the others", kind = "share", example = "1/3", what = "the share" },
    { "only", false, "--only", "NAME", "run this scenario alone, or of a comparison this target or case; repeatable", kind = "text", many = true, example = "'browse'", what = "the name of a scenario" },
  },
  { title = "What to request, in quick mode",
    { "method", "-X", "--method", "WORD", "GET unless there is a body, then POST", kind = "method", example = "PUT", what = "the method", also = "--request" },
    { "headers", "-H", "--header", "'Name: value'", "a header; 'Name:' removes one; repeatable; with a script too", kind = "header", many = true,
      example = "'Accept: text/html'", what = "a header" },
    { "body", "-b", "--body", "TEXT", "the body; in it, in URLs and headers {uuid}, {seq}, {rand:1-1000}, {line:FILE} are filled in", kind = "body", example = "'{\"a\":1}'", what = "the body", also = "--data" },
    { "body_file", "-f", "--body-file", "FILE", "the body, from a file", kind = "file", example = "body.json", what = "the file with the body" },
    { "form", "-F", "--form", "NAME=VALUE", "a field of a form (multipart), or NAME=@FILE[;type=TYPE][;filename=NAME]; repeatable", kind = "form", many = true,
      example = "name=value", what = "a field of a form" },
    { "urls", false, "--urls", "FILE", "what to request: a URL or METHOD URL a line; below it, headers and @FILE, the body, as in vegeta's lists", kind = "text",
      example = "urls.txt", what = "the file with the URLs", also = "--urls-from-file --targets" },
    { "order", false, "--order", "random", "how several URLs take turns: sequence or random (sequence)", kind = "order", example = "random", what = "the order of the URLs" },
    { "literal", false, "--literal", nil, "send {uuid} and the like as they stand" },
  },
  { title = "Connections",
    { "timeout", "-T", "--timeout", "TIME", "for a whole response (30s)", kind = "positive_duration", example = "5s", what = "the timeout" },
    { "connect_timeout", false, "--connect-timeout", "TIME", "for a connection (10s)", kind = "positive_duration", example = "2s", what = "the timeout of connections" },
    { "no_keepalive", false, "--no-keepalive", nil, "every request on a new connection", also = "--disable-keepalive" },
    { "streams", "-m", "--streams", "N", "HTTP/2: requests at a time on a connection, which users share: -c 100 -m 10 opens 10", kind = "count", example = "10",
      what = "the number of streams on a connection" },
    { "requests_per_connection", false, "--requests-per-connection", "N", "open a new connection after so many requests", kind = "count", example = "100",
      what = "the number of requests on a connection" },
    { "http_version", false, "--http", "VERSION", "1.1, 2, or auto: over TLS what the server chooses (auto)", kind = "http_version", example = "2",
      what = "the version of HTTP" },
    { "insecure", "-k", "--insecure", nil, "take whatever certificate the server has", also = "--insecure-skip-tls-verify" },
    { "ca", false, "--cacert", "FILE", "trust the authorities in this PEM file instead of the system's", kind = "text", example = "ca.pem",
      what = "the file of trusted authorities" },
    { "cert", false, "--cert", "FILE", "show this client certificate (PEM)", kind = "text", example = "client.pem", what = "the client's certificate" },
    { "key", false, "--key", "FILE", "its key (PEM), when that is not in the same file", kind = "text", example = "client.key", what = "the client's key" },
    { "sni", false, "--sni", "NAME", "send and verify this name instead of the URL's host", kind = "sni", example = "www.example.com", what = "the name for SNI" },
    { "connect_to", false, "--connect-to", "H1:P1:H2:P2", "connect to host H2, port P2 for URLs with H1 and P1; repeatable", kind = "connect_to", many = true,
      example = "example.com:443:127.0.0.1:8443", what = "where to connect to" },
    { "resolve", false, "--resolve", "HOST:PORT:ADDR", "the address of a host; repeatable", kind = "resolve", many = true,
      example = "example.com:443:127.0.0.1", what = "the address of a host" },
    { "unix_socket", false, "--unix-socket", "PATH", "connect to this Unix socket", kind = "text", example = "/run/app.sock", what = "the Unix socket" },
    { "source_addresses", false, "--source-address", "ADDR", "connect from this local address; several take turns", kind = "source_address", many = true,
      example = "127.0.0.2", what = "the address to come from" },
    { "proxy", false, "--proxy", "URL", "send through this HTTP proxy", kind = "proxy", example = "http://127.0.0.1:3128", what = "the proxy" },
    { "ipv4", "-4", "--ipv4", nil, "use IPv4 addresses alone" },
    { "ipv6", "-6", "--ipv6", nil, "use IPv6 addresses alone" },
    { "redirects", false, "--redirects", "N", "follow up to so many redirects (0)", kind = "hops", example = "10", what = "the number of redirects",
      also = "--max-redirects --location --follow" },
    { "lenient_http", false, "--lenient-http", nil, "accept responses that break the rules of HTTP/1.1" },
  },
  { title = "Scripts",
    { "params", "-p", "--param", "NAME=VALUE", "sets a parameter of the script; repeatable", kind = "pair", many = true, example = "users=100",
      what = "a parameter of the script" },
    { "env", "-e", "--env", "NAME[=VALUE]", "pass an environment variable on to the script, or one of this value; repeatable", kind = "variable", many = true,
      example = "TOKEN", what = "a variable for the script" },
    { "show_secrets", false, "--show-secrets", nil, "do not hide secret parameters, the values of -e, Authorization and cookies" },
    { "seed", false, "--seed", "N", "repeat the random choices of a run", kind = "seed", example = "1", what = "the seed" },
    { "rounds", false, "--rounds", "N", "how many rounds a comparison has, instead of what the script says", kind = "count", example = "10", what = "the number of rounds" },
    { "aa", false, "--aa", nil, "compare the baseline with itself, too: the noise of this machine" },
    { "target", false, "--target", "URL", "replaces the script's target", kind = "url", example = "http://127.0.0.1:8080", what = "the target", also = "--base-url" },
    { "script_timeout", false, "--script-timeout", "TIME", "end the run when a function of the script never returns (10s)", kind = "positive_duration", example = "10s",
      what = "the time after which a script counts as stuck" },
    { "script_memory", false, "--script-memory", "SIZE", "the Lua memory that each thread may use (no limit)", kind = "memory", example = "256MiB", what = "the memory" },
    { "root", false, "--root", "DIR", "the folder that the script may read, instead of its own", kind = "folder", example = "..", what = "the folder" },
    { "allow_read", false, "--allow-read", "[=DIR]", "let the script read files, below DIR or everywhere; repeatable", kind = "place", many = true, bare = "/",
      example = "--allow-read=/data", what = "the folder" },
    { "allow_write", false, "--allow-write", "[=DIR]", "let the script write files, below DIR or everywhere; repeatable", kind = "place", many = true, bare = "/",
      example = "--allow-write=/data", what = "the folder" },
    { "allow_run", false, "--allow-run", nil, "let the script run programs" },
    { "allow_ffi", false, "--allow-ffi", nil, "let the script use ffi and modules written in C" },
    { "allow_all", "-A", "--allow-all", nil, "let the script do everything" },
    { "dry_run", false, "--dry-run", nil, "load and check everything, say what would run, send nothing" },
    { "debug", false, "--debug", nil, "one iteration of one user of each scenario, every request and response printed whole" },
  },
  { title = "Results",
    { "thresholds", false, "--threshold", "'METRIC: LIMIT'", "fail (exit 1) unless it holds: 'http.latency: p(99) < 200ms'; repeatable", kind = "text", many = true,
      example = "'http.latency: p(99) < 200ms'", what = "a threshold" },
    { "latency", "-L", "--latency", nil, "the full table of percentiles" },
    { "outputs", "-o", "--output", "FILE", "write the result to a file; its ending says how: .json, .html, .csv, .ndjson, .hgrm, .hlog, .jtl, .junit.xml; repeatable", kind = "output", many = true, example = "result.json", what = "the file for the result" },
    { "lenient", false, "--lenient", nil, "figures that are not to be trusted are only a warning" },
    { "report", false, "--report", "wrk", "the text report in the layout of wrk's", kind = "report", example = "wrk", what = "the layout" },
    { "json", false, "--json", nil, "the result as JSON on standard output, and nothing else there" },
    { "interval", false, "--interval", "TIME", "a line of progress every so often (10s when not on a terminal)", kind = "positive_duration", example = "10s",
      what = "the time between lines of progress" },
    { "prometheus", false, "--prometheus", "ADDRESS", "serve live figures for Prometheus there: :9095 (any address), 127.0.0.1:9095; port 0: any free one", kind = "address",
      example = ":9095", what = "the address" },
    { "quiet", false, "--quiet", nil, "no progress; the results are still printed", also = "--silent" },
    { "no_color", false, "--no-color", nil, "no colors (also with NO_COLOR set)" },
    { "help", "-h", "--help", nil, "this text; after a script, its parameters" },
    { "version", false, "--version", nil, "the version" },
  },
}

-- With -s, letters are those of wrk and wrk2; what these do not have is as always.
local function group(title, rows)
  for _, each in ipairs(flags.run) do
    if each.title == title then return rows and rows(each) or each end
  end
end

local function rows_of(title, keys)
  return group(title, function(all)
    local some = { title = title }
    for _, row in ipairs(all) do
      if keys:find(" " .. row[1] .. " ", 1, true) then some[#some + 1] = row end
    end
    return some
  end)
end

-- Letters and long names of wrk's for rows of ours; the rest of a row is kept.
local function renamed(title, names)
  return group(title, function(all)
    local some = { title = title }
    for i, row in ipairs(all) do
      local copy = setmetatable({}, { __index = row })
      for k = 1, 5 do copy[k] = row[k] end
      for key, value in pairs(names[row[1]] or {}) do copy[key] = value end
      some[i] = copy
    end
    return some
  end)
end

flags.wrk = {
  { title = "As wrk and wrk2 have them",
    { "script", "-s", "--script", "FILE", "the script", kind = "text", example = "script.lua", what = "the script" },
    { "users", "-c", "--connections", "N", "connections, over all threads (10)", kind = "count", example = "50", what = "the number of connections",
      also = "--users" },
    { "duration", "-d", "--duration", "TIME", "how long: 30s, 5m, 1h; a bare number is seconds (10s)", kind = "positive_duration", example = "30s",
      what = "the duration" },
    { "threads", "-t", "--threads", "N", "threads, each with a Lua state of its own (2)", kind = "threads", example = "2", what = "the number of threads" },
    { "headers", "-H", "--header", "'Name: value'", "a header, in wrk.headers; repeatable", kind = "header", many = true, example = "'Accept: text/html'",
      what = "a header" },
    { "u_latency", "-U", "--u_latency", nil, "taken and without effect: -L shows both latencies" },
    { "batch_latency", "-B", "--batch_latency", nil, "taken and without effect: each response has its own latency" },
  },
  rows_of("How much load", " rate iterations graceful_stop "),
  renamed("Connections", { timeout = { [5] = "for a whole response (2s)" } }),
  rows_of("Scripts", " env seed allow_read allow_write allow_run allow_ffi allow_all script_timeout script_memory root show_secrets dry_run "),
  renamed("Results", { version = { [2] = "-v" } }),
}

local COLOR = { "no_color", false, "--no-color", nil, "no colors (also with NO_COLOR set)" }
local HELP = { "help", "-h", "--help", nil, "this text" }

flags.report = {
  { title = "Options",
    { "outputs", "-o", "--output", "FILE", "write a file instead; its ending says how, as in a run; repeatable", kind = "output", many = true, example = "result.csv",
      what = "the file" },
    { "latency", "-L", "--latency", nil, "the full table of percentiles" },
    COLOR, HELP,
  },
}

flags.diff = {
  { title = "Options",
    { "fail_if_slower", false, "--fail-if-slower", "PERCENT", "exit status 1 when rate, median or p99 of B are worse by more than this, beyond doubt", kind = "percent",
      example = "5%", what = "the limit" },
    COLOR, HELP,
  },
}

flags.merge = {
  { title = "Options",
    { "outputs", "-o", "--output", "FILE", "where the result goes; its ending says how, as in a run; repeatable", kind = "output", many = true, example = "all.json",
      what = "the file" },
    HELP,
  },
}

flags.doctor = {
  { title = "Options",
    { "help", "-h", "--help", nil, "this text" },
  },
}

flags.serve = {
  { title = "Options",
    { "port", false, "--port", "N", "the port to listen on (8080); 0 takes a free one", kind = "port", example = "8080", what = "the port" },
    { "host", false, "--host", "ADDRESS", "the address to listen on (127.0.0.1)", kind = "text", example = "127.0.0.1", what = "the address" },
    { "threads", "-t", "--threads", "N", "threads that answer (1)", kind = "threads", example = "2", what = "the number of threads" },
    { "tls", false, "--tls", nil, "https, with a certificate made for this run" },
    { "cert_out", false, "--cert-out", "FILE", "write that certificate to a file, for --cacert", kind = "text", example = "cert.pem", what = "the file for the certificate" },
    { "http", false, "--http", "VERSION", "speak 1.1 or 2 alone (auto: what the client chooses)", kind = "http_version", example = "2", what = "the version of HTTP" },
    { "help", "-h", "--help", nil, "this text" },
  },
  { title = "Faults, for the tests of clients",
    { "goaway_after", false, "--goaway-after", "N", "take no more requests on a connection after so many", kind = "count", example = "100", what = "the number of requests" },
    { "streams", false, "--streams", "N", "HTTP/2: most streams on a connection (1000)", kind = "limit", example = "100", what = "the number of streams" },
    { "window", false, "--window", "SIZE", "HTTP/2: bytes of a body that may be under way on a stream (1MiB)", kind = "window", example = "64KiB", what = "the window" },
    { "read_rate", false, "--read-rate", "SIZE", "read so many bytes a second from a connection", kind = "rate_of_bytes", example = "64KiB", what = "the bytes a second" },
  },
}

return flags
