// node look.mjs REPORT.html [SCREENSHOT.png]: opens a report in a real browser, in a window, on a phone, dark and printed, and prints as JSON what there was to see:
// errors of the console, requests, charts with the number of colours in each, what is wider than the page, the policy's violations, and dialogs (a script that got in).
import { readFileSync } from "node:fs";
import process from "node:process";
import { chromium } from "playwright-core";

const [report, screenshot] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

// How many different colours a canvas has: an empty one has one.
const colors = (canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4 * 7) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return seen.size;
};

async function look(name, options, print = false) {
  const seen = { name, errors: [], requests: [], dialogs: [] };
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("console", (message) => { if (message.type() !== "log") seen.errors.push(message.text()); });
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("request", (request) => { if (!request.url().startsWith("http://report.test/")) seen.requests.push(request.url()); });
  page.on("dialog", (dialog) => { seen.dialogs.push(dialog.message()); dialog.dismiss(); });
  await page.route("http://report.test/", (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body: readFileSync(report) }));
  await page.goto("http://report.test/");
  if (print) await page.emulateMedia({ media: "print" });
  const handles = await page.$$(".chart canvas");
  seen.charts = await Promise.all(handles.map((handle) => handle.evaluate(colors)));
  seen.drawn = await page.evaluate(() => document.documentElement.dataset.charts ?? null);
  seen.asked = await page.$$eval(".chart", (list) => list.map((element) => element.dataset.draw));
  seen.overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  seen.background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  seen.text = await page.evaluate(() => document.body.innerText);
  if (screenshot) await page.screenshot({ path: screenshot.replace(/\.png$/, `-${name}.png`), fullPage: true });
  await context.close();
  return seen;
}

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true };
const views = [await look("window", {}), await look("phone", phone), await look("dark", { colorScheme: "dark" }), await look("print", {}, true)];
await browser.close();
console.log(JSON.stringify(views));
