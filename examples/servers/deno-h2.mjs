// HTTP/2 (and HTTP/1.1) over TLS with Deno.serve. ./make-certificate once, then:
//   PORT=8443 npx deno run --allow-net --allow-read --allow-env=PORT,CERTIFICATES deno-h2.mjs
import { answer } from "./answer.mjs";
import { cert, key } from "./certificate.mjs";

Deno.serve({
  hostname: "127.0.0.1",
  port: Number(Deno.env.get("PORT") ?? 8443),
  key,
  cert,
  onListen: ({ port }) => console.log(`listening on https://127.0.0.1:${port}`),
}, (request) => {
  const [status, text] = answer(new URL(request.url).pathname);
  return new Response(text, { status, headers: { "Content-Type": "text/plain" } });
});
