// PORT=8080 npx bun bun.mjs
import { answer } from "./answer.mjs";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(Bun.env.PORT ?? 8080),
  fetch(request) {
    const [status, text] = answer(new URL(request.url).pathname);
    return new Response(text, { status, headers: { "Content-Type": "text/plain" } });
  },
});

console.log(`listening on http://127.0.0.1:${server.port}`);
