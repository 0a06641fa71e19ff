-- HTTP/2 over TLS: 10,000 requests over 10 connections, each by a user of its own. Against the built-in target:
--   luabench serve --tls --cert-out cert.pem &
--   luabench examples/hello-h2.lua --target https://127.0.0.1:8080 --cacert cert.pem
-- or against those of Node.js and Deno: (cd examples/servers && ./make-certificate && node node-h2.mjs) &
--   luabench examples/hello-h2.lua --cacert examples/servers/certificates/cert.pem -c 25
scenario "hello over HTTP/2" {
  target     = "https://127.0.0.1:8443",
  users      = 10,
  iterations = 10000,
  http       = { version = "2" },
  run = function()
    local res = http.get("/hello")
    check("status is 200", res.status == 200)
    check("came over HTTP/2", res.version == "2")
    check("says hello", res.body == "hello, world\n")
  end,
}
