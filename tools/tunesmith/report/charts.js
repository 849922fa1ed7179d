// Charts, by Chart.js where the page has it. Every chart has a table of its data beside it.
"use strict";

const canDraw = typeof Chart !== "undefined";
const darkScreen = window.matchMedia("(prefers-color-scheme: dark)");
let printing = false;
const drawn = [];  // {canvas, configure, chart}

// Told apart without colour, too: by the shape of their points and the dashes of their lines.
const shapes = ["circle", "triangle", "rect", "rectRot", "crossRot", "star"];
const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const light = {text: "#1b1f24", grid: "#dfe3e8", series: ["#0b5fad", "#b8430b", "#0d7a4f", "#8b3a8b", "#7a5d00", "#4f5661"]};
const dark = {text: "#e6eaef", grid: "#363e47", series: ["#6cb2ff", "#ffa06b", "#5fd6a4", "#e59ce2", "#e5c64a", "#b6bec8"]};
const palette = () => (darkScreen.matches && !printing ? dark : light);

function draw(entry) {
  if (entry.chart) entry.chart.destroy();
  const config = entry.configure(palette());
  config.options.animation = false;
  config.options.maintainAspectRatio = false;
  // A printer has more points than a screen.
  config.options.devicePixelRatio = printing ? 3 : Math.max(window.devicePixelRatio, 1);
  const pointAt = (chart, [at]) => (at ? chart.data.datasets[at.datasetIndex].data[at.index] : null);
  config.options.onClick = (event, elements, chart) => entry.pick(pointAt(chart, elements));
  config.options.onHover = (event, elements, chart) => {
    const point = pointAt(chart, elements);
    chart.canvas.style.cursor = point && (point.record || point.task) ? "pointer" : "default";
  };
  entry.chart = new Chart(entry.canvas, config);
}

function forgetCharts() {
  drawn.forEach((entry) => entry.chart && entry.chart.destroy());
  drawn.length = 0;
}
const seen = (entry) => entry.canvas.isConnected && !entry.canvas.closest("details:not([open])");
function redraw() {
  if (canDraw) drawn.filter(seen).forEach(draw);
}
/** What has been opened since. */
function drawNew() {
  if (canDraw) drawn.filter((entry) => !entry.chart && seen(entry)).forEach(draw);
}
darkScreen.addEventListener("change", redraw);
window.addEventListener("beforeprint", () => {
  printing = true;
  document.querySelectorAll("details.task").forEach((task) => task.reveal());
  redraw();
});
window.addEventListener("afterprint", () => {
  printing = false;
  redraw();
});

/** `summary` says in a sentence what the chart shows; `data` makes the table. */
function figure({title, note, summary, configure, data, height}) {
  const parts = [el("figcaption", {}, title), note ? el("p", {class: "note"}, note) : null];
  if (configure.note) parts.push(el("p", {class: "note"}, configure.note));
  if (canDraw) {
    const picked = el("p", {class: "picked", role: "status"});
    const canvas = el("canvas", {role: "img", "aria-label": `${title}. ${summary} The table below has the data.`});
    parts.push(el("div", {class: "chart", style: height ? `height: ${height}` : null}, canvas));
    parts.push(picked);
    drawn.push({canvas, configure, pick: (point) => picked.replaceChildren(...(point ? whereFrom(point) : []))});
  }
  parts.push(disclosure("Data as a table", data, !canDraw));
  return el("figure", {}, parts);
}

function axis(colors, {title, log, format, min, max, suggestedMin, integer, beginAtZero}) {
  const plain = (value) => (format ? format(value) : digits(value, 4));
  // On a logarithmic axis of several decades 1, 2 and 5 of each suffice.
  function callback(value) {
    if (!log || this.max < 10 * this.min) return plain(value);
    const leading = Number((value / 10 ** Math.floor(Math.log10(value) + 1e-9)).toPrecision(2));
    return [1, 2, 5].includes(leading) ? plain(value) : null;
  }
  return {
    type: log ? "logarithmic" : "linear",
    min, max, suggestedMin, beginAtZero,
    title: {display: true, text: title, color: colors.text},
    ticks: {color: colors.text, callback, precision: integer ? 0 : undefined, maxRotation: 0, autoSkipPadding: 12},
    grid: {color: colors.grid, borderColor: colors.text},
  };
}

function options(colors, x, y, label, legend) {
  return {
    scales: {x: axis(colors, x), y: axis(colors, y)},
    interaction: {mode: "nearest", intersect: false},
    plugins: {
      legend: {display: legend, labels: {color: colors.text, usePointStyle: true, boxWidth: 8, boxHeight: 8, padding: 14}},
      tooltip: {callbacks: {label, title: () => ""}},
    },
  };
}

/** A logarithmic axis that ends where the data do; by itself it would end at the next powers of ten. */
function fitted(axisOptions, values) {
  if (!axisOptions.log || axisOptions.min !== undefined || !values.length) return axisOptions;
  return {...axisOptions, min: Math.min(...values) / 1.15, max: Math.max(...values) * 1.15};
}

/** An axis that a few points far away would squash ends before them; they are drawn at its end. */
function withoutOutliers(axisOptions, values) {
  const few = 20;
  if (axisOptions.min !== undefined || axisOptions.max !== undefined || values.length < few) return axisOptions;
  const [scale, back] = axisOptions.log ? [Math.log, Math.exp] : [(value) => value, (value) => value];
  const sorted = values.map(scale).sort((a, b) => a - b);
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  const [least, most, low, high] = [at(0), at(1), at(0.05), at(0.95)];
  const begin = Math.max(least, 2 * low - high);
  const end = Math.min(most, 2 * high - low);
  if (high === low || most - least < 2 * (end - begin)) return axisOptions;
  return {...axisOptions, min: back(begin), max: back(end), cut: true};
}

const kept = (axisOptions, value) => (axisOptions.cut ? Math.min(Math.max(value, axisOptions.min), axisOptions.max) : value);

/**
 * `series`: [{name, points: [[x, y, {name, task, record}]..], stepped, line: false for points alone, dots: false for none,
 * plain: a roof}]. A point that knows its task or record leads there.
 */
function xyChart(series, xAxis, yAxis) {
  const points = series.flatMap((one) => one.points);
  const scattered = series.every((one) => one.line === false);
  const [x, y] = [xAxis, yAxis].map((axisOptions, i) => {
    const values = points.map((point) => point[i]);
    return fitted(scattered ? withoutOutliers(axisOptions, values) : axisOptions, values);
  });
  const isBeyond = ([px, py]) => kept(x, px) !== px || kept(y, py) !== py;
  const beyond = points.filter(isBeyond).length;
  const configure = (colors) => ({
    type: "scatter",
    data: {
      datasets: series.map((one, i) => {
        const color = one.plain ? colors.text : colors.series[i % colors.series.length];
        const hollow = one.hollow;
        return {
          label: one.name,
          data: one.points.map(([px, py, about]) => ({x: kept(x, px), y: kept(y, py), is: [px, py], ...about})),
          showLine: one.line !== false,
          stepped: one.stepped ? "before" : false,
          borderColor: color,
          backgroundColor: hollow ? "transparent" : color,
          borderWidth: one.line === false ? 1.5 : 2,
          borderDash: one.plain ? [] : dashes[i % dashes.length],
          pointStyle: one.points.map((point) => (isBeyond(point) ? "crossRot" : shapes[i % shapes.length])),
          pointRadius: one.points.map((point) => (one.dots === false ? 0 : isBeyond(point) ? 7 : one.small ? 2.5 : 4.5)),
          pointHoverRadius: 7,
          clip: 8,  // a point on an axis is seen whole
        };
      }),
    },
    options: options(colors, x, y, ({dataset, raw}) => [
      raw.name || dataset.label,
      ...[x, y].map((axisOptions, i) => `${axisOptions.title}: ${(axisOptions.format || number)(raw.is[i])}`),
      ...(raw.record ? [`record ${raw.record}`] : raw.task ? [`task ${raw.task}`] : []),
    ], series.length > 1),
  });
  if (beyond) configure.note = `${beyond} ${beyond === 1 ? "point lies" : "points lie"} beyond the axes and ${beyond === 1 ? "is drawn as a cross" : "are drawn as crosses"} at the edge; the table has all points.`;
  return configure;
}

/** Horizontal: `bars`: [{name, value, mark: another value to hold it against}]. */
function barChart(bars, x, markTitle) {
  return (colors) => {
    const datasets = [{label: x.title, data: bars.map((bar) => bar.value), backgroundColor: colors.series[0], maxBarThickness: 22}];
    if (markTitle) {
      datasets.push({label: markTitle, data: bars.map((bar) => bar.mark), backgroundColor: "transparent", borderColor: colors.series[1],
        borderWidth: 2, maxBarThickness: 22});
    }
    const base = options(colors, x, {title: ""}, ({dataset, raw}) => `${dataset.label}: ${(x.format || number)(raw)}`, Boolean(markTitle));
    base.indexAxis = "y";
    base.scales.y = {ticks: {color: colors.text, autoSkip: false, callback(index) {
      const name = this.getLabelForValue(index);
      const most = Math.max(14, Math.floor(this.chart.width / 16));
      return name.length > most ? `${name.slice(0, most - 1)}…` : name;
    }}, grid: {display: false, borderColor: colors.text}};
    base.interaction = {mode: "index", axis: "y", intersect: false};
    return {type: "bar", data: {labels: bars.map((bar) => bar.name), datasets}, options: base};
  };
}
const barHeight = (count) => `${6 + 1.9 * count}rem`;
