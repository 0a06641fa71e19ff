// node build.mjs OUTPUT.lua: bundles charts.js with what it uses of ECharts into a Lua module that returns the text.
import { build } from "esbuild";
import { writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL("charts.js", import.meta.url))],
  bundle: true, minify: true, format: "iife", target: "es2020", legalComments: "eof", charset: "ascii", write: false,
});
const text = outputFiles[0].text.replaceAll("</script", "<\\/script");
let level = "=";
while (text.includes(`]${level}]`)) level += "=";
writeFileSync(process.argv[2], `return [${level}[\n${text}]${level}]\n`);
