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
  entry.chart = new Chart(entry.canvas, config);
}

function redraw() {
  if (canDraw) drawn.forEach(draw);
}
darkScreen.addEventListener("change", redraw);
window.addEventListener("beforeprint", () => {
  printing = true;
  redraw();
});
window.addEventListener("afterprint", () => {
  printing = false;
  redraw();
});

/** `summary` says in a sentence what the chart shows; `data` makes the table. */
function figure({title, note, summary, configure, data, height}) {
  const parts = [el("figcaption", {}, title), note ? el("p", {class: "note"}, note) : null];
  if (canDraw) {
    const canvas = el("canvas", {role: "img", "aria-label": `${title}. ${summary} The table below has the data.`});
    parts.push(el("div", {class: "chart", style: height ? `height: ${height}` : null}, canvas));
    drawn.push({canvas, configure});
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

/** `series`: [{name, points: [[x, y]..], stepped, line: false for points alone, dots: false for none, plain: a roof}]. */
function xyChart(series, xAxis, yAxis) {
  const points = series.flatMap((one) => one.points);
  const x = fitted(xAxis, points.map((point) => point[0]));
  const y = fitted(yAxis, points.map((point) => point[1]));
  return (colors) => ({
    type: "scatter",
    data: {
      datasets: series.map((one, i) => {
        const color = one.plain ? colors.text : colors.series[i % colors.series.length];
        const hollow = one.hollow;
        return {
          label: one.name,
          data: one.points.map(([px, py, name]) => ({x: px, y: py, name})),
          showLine: one.line !== false,
          stepped: one.stepped ? "before" : false,
          borderColor: color,
          backgroundColor: hollow ? "transparent" : color,
          borderWidth: one.line === false ? 1.5 : 2,
          borderDash: one.plain ? [] : dashes[i % dashes.length],
          pointStyle: shapes[i % shapes.length],
          pointRadius: one.dots === false ? 0 : one.small ? 2.5 : 4.5,
          pointHoverRadius: 7,
          clip: 8,  // a point on an axis is seen whole
        };
      }),
    },
    options: options(colors, x, y, ({dataset, raw}) => {
      const name = raw.name ? `${raw.name}: ` : `${dataset.label}: `;
      return `${name}${(x.format || number)(raw.x)}, ${(y.format || number)(raw.y)}`;
    }, series.length > 1),
  });
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
