// What all example servers answer, so that they differ in nothing but the runtime; /hello and
// /fibonacci are as `luabench serve` has them:
//   /, /hello      "hello, world"
//   /fibonacci/N   the Nth Fibonacci number, computed the slow way to keep a core busy
//   /requests      how many requests were answered so far, not counting those to /requests

const fibonacci = (n) => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));

let requests = 0;

/** The status and the text for a path. */
export function answer(path) {
  if (path === "/requests") return [200, `${requests}\n`];
  requests += 1;
  if (path === "/" || path === "/hello") return [200, "hello, world\n"];
  const n = /^\/fibonacci\/(\d{1,2})$/.exec(path)?.[1];
  return n ? [200, `${fibonacci(Number(n))}\n`] : [404, "nothing is here\n"];
}
