// PORT=8080 node node.mjs
import { createServer } from "node:http";
import process from "node:process";
import { answer } from "./answer.mjs";

const server = createServer((request, response) => {
  const [status, text] = answer(request.url);
  response.statusCode = status;
  response.setHeader("Content-Type", "text/plain");
  response.end(text);
});

server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
