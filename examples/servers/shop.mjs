// PORT=8080 node shop.mjs
// A small shop, for examples/shop.lua and its like: Node's own modules and nothing else, all state in memory.
//   GET /login, POST /login   a session cookie and a CSRF token in the page; name, password and token of the form; on to /
//   GET /search?q=            JSON
//   POST /cart                JSON in and out; needs the token in X-CSRF-Token, as all that follows
//   POST /wishes              a file of a multipart form; how many bytes and lines it has
//   POST /checkout            303 to /orders/N
// One in 20 of the requests after the login fails: every 20th, so that their number is known. Not asked by a visitor, and not counted:
//   GET /counts               how often each of them was asked and what was answered: { "POST /cart": { "200": 19, "503": 1 }, ... }
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import process from "node:process";

const PRODUCTS = ["kettle", "toaster", "lamp", "chair", "table", "shelf", "clock", "mirror"].map((name, i) => (
  { id: i + 1, name, price: 1990 + 500 * i }));

const sessions = new Map();
const counts = {};
let orders = 0;
let chances = 0;

const isUnlucky = () => ++chances % 20 === 0;

const json = (value, status = 200) => ({ status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) });
const html = (body, status = 200, headers = {}) => ({ status, headers: { "Content-Type": "text/html", ...headers }, body });
const refusal = (status, error) => json({ error }, status);
const seeOther = (place) => ({ status: 303, headers: { Location: place }, body: "" });

async function read(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

function sessionOf(request) {
  const id = /(?:^|; )sid=(\w+)/.exec(request.headers.cookie ?? "")?.[1];
  return sessions.get(id);
}

function beginSession() {
  const id = randomBytes(12).toString("hex");
  const session = { token: randomBytes(12).toString("hex"), name: null, cart: [] };
  sessions.set(id, session);
  return html(`<form method="post"><input name="csrf" type="hidden" value="${session.token}"></form>`, 200,
    { "Set-Cookie": `sid=${id}; Path=/; HttpOnly; SameSite=Lax` });
}

function logIn({ session, body }) {
  const form = new URLSearchParams(body.toString());
  if (!session || form.get("csrf") !== session.token) return refusal(403, "the token is not this session's");
  if (form.get("password") !== `${form.get("name")}-secret`) return refusal(401, "no such name and password");
  session.name = form.get("name");
  return seeOther("/");
}

function search({ url }) {
  const words = url.searchParams.get("q") ?? "";
  return json({ items: PRODUCTS.filter((product) => product.name.includes(words)) });
}

function putInCart({ session, body }) {
  const { product, count } = JSON.parse(body);
  const found = PRODUCTS.find(({ id }) => id === product);
  if (!found) return refusal(404, "no such product");
  session.cart.push({ ...found, count });
  return json({ lines: session.cart.length, total: session.cart.reduce((sum, line) => sum + line.price * line.count, 0) });
}

/** The content of the only file of a multipart form (RFC 7578), which holds no other part. */
function fileOf(request, body) {
  const boundary = /boundary="?([^";]+)/.exec(request.headers["content-type"] ?? "")?.[1];
  const text = body.toString("latin1");
  const begin = text.indexOf("\r\n\r\n") + 4;
  const end = text.lastIndexOf(`\r\n--${boundary}--`);
  return text.startsWith(`--${boundary}\r\n`) && end >= begin ? text.slice(begin, end) : null;
}

function takeWishes({ request, body }) {
  const file = fileOf(request, body);
  if (file === null) return refusal(400, "not a form with a file");
  return json({ bytes: file.length, lines: file.split("\n").length - 1 }, 201);
}

function checkOut({ session }) {
  if (session.cart.length === 0) return refusal(409, "the cart is empty");
  session.cart = [];
  return seeOther(`/orders/${++orders}`);
}

const showOrder = ({ url }) => html(`<p class="thanks">Order <b>${url.pathname.split("/")[2]}</b> is on its way</p>`);

/** For the visitors who have logged in; `guarded` ones send the token too. */
const member = (answer, guarded) => (visit) => {
  if (!visit.session?.name) return refusal(401, "log in first");
  if (guarded && visit.request.headers["x-csrf-token"] !== visit.session.token) return refusal(403, "no token");
  return isUnlucky() ? refusal(503, "try again") : answer(visit);
};

const ROUTES = {
  "GET /login": beginSession,
  "POST /login": logIn,
  "GET /": () => html("<h1>The shop</h1>"),
  "GET /search": member(search),
  "POST /cart": member(putInCart, true),
  "POST /wishes": member(takeWishes, true),
  "POST /checkout": member(checkOut, true),
  "GET /orders": (visit) => (visit.session?.name ? showOrder(visit) : refusal(401, "log in first")),
};

async function answer(request) {
  const url = new URL(request.url, "http://shop");
  const name = `${request.method} ${/^\/[^/]*/.exec(url.pathname)[0]}`;
  if (name === "GET /counts") return json(counts);
  const body = await read(request);
  let result;
  try {
    result = (ROUTES[name] ?? (() => refusal(404, "nothing is here")))({ request, url, body, session: sessionOf(request) });
  } catch {
    result = refusal(400, "not understood");
  }
  const of = (counts[name] ??= {});
  of[result.status] = (of[result.status] ?? 0) + 1;
  return result;
}

const server = createServer(async (request, response) => {
  const { status, headers, body } = await answer(request);
  response.writeHead(status, headers).end(body);
});

server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
