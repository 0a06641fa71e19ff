// Draws the charts of the HTML report: each element with the class "chart" names in data-draw how, and its data stand as JSON in the script element with the id in
// data-from. Without this file the report's tables say the same. Nothing is fetched, nothing leaves the page.
import { BarChart, BoxplotChart, CustomChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, ToolboxComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([BarChart, BoxplotChart, CustomChart, LineChart, GridComponent, LegendComponent, ToolboxComponent, TooltipComponent, CanvasRenderer]);

const COLORS = ["#3b6fd4", "#d9822b", "#2e9e6b", "#b8478f", "#7a5cc7", "#8a8d3a", "#c0463c", "#3a9bab"];

// Figures as the tables show them ----------------------------------------------------------------------------------------

const digits = (value) => (value >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString());

function duration(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return "n/a";
  if (seconds === 0) return "0";
  if (seconds < 1e-6) return `${digits(seconds * 1e9)} ns`;
  if (seconds < 1e-3) return `${digits(seconds * 1e6)} µs`;
  if (seconds < 1) return `${digits(seconds * 1e3)} ms`;
  return `${digits(seconds)} s`;
}

function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${digits(value)} ${units[unit]}`;
}

const count = (value) => (value >= 1000 ? Math.round(value).toLocaleString("en") : digits(value));
const share = (value) => `${digits(value * 100)}%`;
const FORMATS = { duration, bytes, count, share };

// What all charts have in common -----------------------------------------------------------------------------------------

const dark = matchMedia("(prefers-color-scheme: dark)");

function ink() {
  return dark.matches ? { text: "#c9ced6", line: "#3a4049", back: "#16191d" } : { text: "#454b54", line: "#dfe2e6", back: "#ffffff" };
}

function axis(more) {
  const { text, line } = ink();
  return { axisLabel: { color: text, hideOverlap: true }, axisLine: { lineStyle: { color: line } }, splitLine: { lineStyle: { color: line } }, nameTextStyle: { color: text }, ...more };
}

function common(title) {
  const { text, back } = ink();
  return {
    animation: false, color: COLORS, textStyle: { fontFamily: "inherit" }, backgroundColor: back,
    grid: { left: 8, right: 16, top: 44, bottom: 8, containLabel: true },
    legend: { top: 4, left: 0, right: 40, type: "plain", textStyle: { color: text }, icon: "roundRect", itemWidth: 12, itemHeight: 8 },
    tooltip: { trigger: "axis", confine: true, renderMode: "richText" },
    toolbox: { right: 0, top: 0, iconStyle: { borderColor: text }, feature: { saveAsImage: { title: "PNG", name: title, pixelRatio: 2 } } },
  };
}

// Distance from 1 on a logarithmic scale: each further nine takes as much room.
const nines = (quantile) => -Math.log10(1 - quantile);
const NINES = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
const percentile = (quantile) => `p${Number((quantile * 100).toFixed(5))}`;

// Charts -----------------------------------------------------------------------------------------------------------------

const DRAW = {
  // { lines: [ { name, points: [ [quantile, seconds], ... ] } ] }
  percentiles(data) {
    const last = Math.max(...data.lines.flatMap((line) => line.points.map((point) => nines(point[0]))));
    return {
      tooltip: { valueFormatter: duration, axisPointer: { label: { show: false } } },
      xAxis: axis({
        type: "value", min: 0, max: Math.max(1, Math.ceil(last)), interval: 1,
        axisLabel: { color: ink().text, formatter: (value) => percentile(1 - 10 ** -value) },
      }),
      yAxis: axis({ type: "log", axisLabel: { color: ink().text, formatter: duration } }),
      series: data.lines.map((line) => ({ type: "line", name: line.name, showSymbol: false, data: line.points.map(([quantile, value]) => [nines(quantile), value]) })),
    };
  },

  // { format, log, lines: [ { name, points: [ [time, value], ... ] } ] }
  time(data) {
    const format = FORMATS[data.format];
    return {
      tooltip: { valueFormatter: format },
      xAxis: axis({ type: "value", max: "dataMax", axisLabel: { color: ink().text, formatter: (value) => `${digits(value)} s` } }),
      yAxis: axis({ type: data.log ? "log" : "value", axisLabel: { color: ink().text, formatter: format } }),
      series: data.lines.map((line) => ({ type: "line", name: line.name, showSymbol: false, step: data.step ? "end" : false, areaStyle: data.area ? { opacity: 0.15 } : undefined, data: line.points })),
    };
  },

  // { format, cases: [name], targets: [ { name, values: [ [center, low, high] or null, ... ] } ] }
  bars(data) {
    const format = FORMATS[data.format];
    const bars = data.targets.map((target) => ({ type: "bar", name: target.name, barMaxWidth: 48, data: target.values.map((value) => (value ? value[0] : null)) }));
    const whiskers = data.targets.map((target, index) => ({
      type: "custom", name: target.name, tooltip: { show: false }, z: 3, itemStyle: { color: ink().text },
      data: target.values.map((value, at) => (value && value[1] !== null && value[2] !== null ? [at, value[1], value[2]] : null)).filter(Boolean),
      encode: { x: 0, y: [1, 2] },
      renderItem: (params, api) => whisker(api, index, data.targets.length),
    }));
    return {
      tooltip: { formatter: undefined, valueFormatter: format },
      xAxis: axis({ type: "category", data: data.cases, splitLine: { show: false } }),
      yAxis: axis({ type: "value", axisLabel: { color: ink().text, formatter: format } }),
      series: [...bars, ...whiskers],
    };
  },

  // { cases: [name], targets: [ { name, boxes: [ [low, q1, median, q3, high] or null, ... ] } ] }
  boxes(data) {
    return {
      tooltip: { trigger: "item", formatter: (item) => `${item.seriesName}, ${item.name}\n${["min", "q1", "median", "q3", "p99"].map((name, i) => `${name} ${duration(item.value[i + 1])}`).join("\n")}` },
      xAxis: axis({ type: "category", data: data.cases, splitLine: { show: false } }),
      yAxis: axis({ type: "log", axisLabel: { color: ink().text, formatter: duration } }),
      series: data.targets.map((target, index) => ({
        type: "boxplot", name: target.name, boxWidth: [8, 40], itemStyle: { color: `${COLORS[index % COLORS.length]}40`, borderColor: COLORS[index % COLORS.length] },
        data: target.boxes.map((box) => box ?? [NaN, NaN, NaN, NaN, NaN]),
      })),
    };
  },
};

// The interval of a bar, drawn where ECharts puts that bar.
function whisker(api, index, of) {
  const low = api.coord([api.value(0), api.value(1)]);
  const high = api.coord([api.value(0), api.value(2)]);
  const width = Math.min(48, (api.size([1, 0])[0] * 0.8) / (of + 0.3 * (of - 1)));
  const x = low[0] + (index - (of - 1) / 2) * width * 1.3;
  const style = { stroke: ink().text, lineWidth: 1.5, fill: "none" };
  const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
  return { type: "group", children: [line(x, low[1], x, high[1]), line(x - 5, low[1], x + 5, low[1]), line(x - 5, high[1], x + 5, high[1])] };
}

// The page ---------------------------------------------------------------------------------------------------------------

// Two levels of options: what a chart says wins.
function merged(base, over) {
  const all = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const both = value && all[key] && typeof value === "object" && typeof all[key] === "object" && !Array.isArray(value);
    all[key] = both ? { ...all[key], ...value } : value;
  }
  return all;
}

function draw(element, data) {
  const title = element.dataset.title ?? "chart";
  const chart = init(element, null, { renderer: "canvas" });
  const show = () => chart.setOption(merged(common(title), DRAW[element.dataset.draw](data)), true);
  show();
  dark.addEventListener("change", show);
  new ResizeObserver(() => chart.resize()).observe(element);
  addEventListener("beforeprint", () => chart.resize());
}

for (const element of document.querySelectorAll(".chart")) {
  element.hidden = false;
  draw(element, JSON.parse(document.getElementById(element.dataset.from).textContent));
}
document.documentElement.dataset.charts = "drawn";
