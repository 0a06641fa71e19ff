// PORT=8080 npx deno run --allow-net --allow-env=PORT deno.mjs
import { answer } from "./answer.mjs";

Deno.serve({
  hostname: "127.0.0.1",
  port: Number(Deno.env.get("PORT") ?? 8080),
  onListen: ({ port }) => console.log(`listening on http://127.0.0.1:${port}`),
}, (request) => {
  const [status, text] = answer(new URL(request.url).pathname);
  return new Response(text, { status, headers: { "Content-Type": "text/plain" } });
});
