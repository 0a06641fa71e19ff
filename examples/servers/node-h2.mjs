// HTTP/2 over TLS with node:http2. ./make-certificate once, then: PORT=8443 node node-h2.mjs
import { createSecureServer } from "node:http2";
import process from "node:process";
import { answer } from "./answer.mjs";
import { cert, key } from "./certificate.mjs";

const server = createSecureServer({ key, cert });

server.on("stream", (stream, headers) => {
  const [status, text] = answer(headers[":path"]);
  stream.respond({ ":status": status, "content-type": "text/plain" });
  stream.end(text);
});

server.listen(Number(process.env.PORT ?? 8443), "127.0.0.1", () => {
  console.log(`listening on https://127.0.0.1:${server.address().port}`);
});
