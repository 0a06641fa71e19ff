-- The options of the command line: one row each, in the groups in which --help shows them. To add one, add a row and use its key in plan.lua,
-- quick.lua or main.lua; and take it off the list in later.lua.
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
    { "ramp_up", false, "--ramp-up", "TIME", "start the users one after another over this time", kind = "duration", example = "10s", what = "the ramp-up time" },
    { "graceful_stop", false, "--graceful-stop", "TIME", "how long running iterations may finish after the end (30s)", kind = "duration", example = "5s",
      what = "the time for running iterations to finish" },
    { "threads", "-t", "--threads", "N", "worker threads (as many as cores, never more than users)", kind = "count", example = "2",
      what = "the number of threads" },
    { "only", false, "--only", "NAME", "run this scenario alone; repeatable", kind = "text", many = true, example = "'browse'", what = "the name of a scenario" },
  },
  { title = "What to request, in quick mode",
    { "method", "-X", "--method", "WORD", "GET unless there is a body, then POST", kind = "method", example = "PUT", what = "the method", also = "--request" },
    { "headers", "-H", "--header", "'Name: value'", "a header; 'Name:' removes one; repeatable; with a script too", kind = "header", many = true,
      example = "'Accept: text/html'", what = "a header" },
    { "body", "-b", "--body", "TEXT", "the body", kind = "body", example = "'{\"a\":1}'", what = "the body", also = "--data" },
    { "body_file", "-f", "--body-file", "FILE", "the body, from a file", kind = "file", example = "body.json", what = "the file with the body" },
  },
  { title = "Connections",
    { "timeout", "-T", "--timeout", "TIME", "for a whole response (30s)", kind = "positive_duration", example = "5s", what = "the timeout" },
    { "connect_timeout", false, "--connect-timeout", "TIME", "for a connection (10s)", kind = "positive_duration", example = "2s", what = "the timeout of connections" },
    { "no_keepalive", false, "--no-keepalive", nil, "every request on a new connection", also = "--disable-keepalive" },
    { "requests_per_connection", false, "--requests-per-connection", "N", "open a new connection after so many requests", kind = "count", example = "100",
      what = "the number of requests on a connection" },
    { "lenient_http", false, "--lenient-http", nil, "accept responses that break the rules of HTTP/1.1" },
  },
  { title = "Scripts",
    { "params", "-p", "--param", "NAME=VALUE", "sets a parameter of the script; repeatable", kind = "pair", many = true, example = "users=100",
      what = "a parameter of the script" },
    { "target", false, "--target", "URL", "replaces the script's target", kind = "url", example = "http://127.0.0.1:8080", what = "the target", also = "--base-url" },
    { "script_timeout", false, "--script-timeout", "TIME", "end the run when a function of the script never returns (10s)", kind = "positive_duration", example = "10s",
      what = "the time after which a script counts as stuck" },
    { "dry_run", false, "--dry-run", nil, "load and check everything, say what would run, send nothing" },
  },
  { title = "Results",
    { "thresholds", false, "--threshold", "'METRIC: LIMIT'", "fail (exit 1) unless it holds: 'http.latency: p(99) < 200ms'; repeatable", kind = "text", many = true,
      example = "'http.latency: p(99) < 200ms'", what = "a threshold" },
    { "latency", "-L", "--latency", nil, "the full table of percentiles" },
    { "outputs", "-o", "--output", "FILE", "write the result to FILE.json; repeatable", kind = "output", many = true, example = "result.json", what = "the file for the result" },
    { "json", false, "--json", nil, "the result as JSON on standard output, and nothing else there" },
    { "interval", false, "--interval", "TIME", "a line of progress every so often (10s when not on a terminal)", kind = "positive_duration", example = "10s",
      what = "the time between lines of progress" },
    { "quiet", false, "--quiet", nil, "no progress; the results are still printed", also = "--silent" },
    { "no_color", false, "--no-color", nil, "no colors (also with NO_COLOR set)" },
    { "help", "-h", "--help", nil, "this text; after a script, its parameters" },
    { "version", false, "--version", nil, "the version" },
  },
}

flags.serve = {
  { title = "Options",
    { "port", false, "--port", "N", "the port to listen on (8080); 0 takes a free one", kind = "port", example = "8080", what = "the port" },
    { "host", false, "--host", "ADDRESS", "the address to listen on (127.0.0.1)", kind = "text", example = "127.0.0.1", what = "the address" },
    { "threads", "-t", "--threads", "N", "threads that answer (1)", kind = "count", example = "2", what = "the number of threads" },
    { "help", "-h", "--help", nil, "this text" },
  },
}

return flags
