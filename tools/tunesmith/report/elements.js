// Elements, and how numbers are written. Text from the data goes in as text, never as HTML.
"use strict";

function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

const missing = "–";
const digits = (value, count) => Number(value.toPrecision(count || 3)).toString();

/** As text when there is a value, else a dash. */
const known = (write) => (value) => (value === null || value === undefined ? missing : write(value));

function scaled(units) {
  return known((value) => {
    const [size, name] = units.find(([size]) => Math.abs(value) >= size) || units[units.length - 1];
    const number = value / size;
    return `${number >= 1000 ? Math.round(number) : digits(number)} ${name}`;
  });
}
const seconds = scaled([[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]]);
const operations = scaled([[1e12, "TFLOP/s"], [1e9, "GFLOP/s"], [1e6, "MFLOP/s"]]);
const bandwidth = scaled([[1e9, "GB/s"], [1e6, "MB/s"]]);
const percent = known((share) => `${digits(100 * share)} %`);
const times = known((factor) => `${digits(factor)} ×`);
const number = known((value) => digits(value, 4));
const date = known((ms) => new Date(ms).toISOString().replace("T", " ").slice(0, 19) + " UTC");

/**
 * `columns`: [{title, text: row => string, number: is it one}]; the first one names the row. Columns in which no row has
 * anything are left out.
 */
function table(columns, rows, caption) {
  const shown = columns.filter((column, i) => i === 0 || rows.some((row) => column.text(row) !== missing));
  const heading = shown.map((c) => el("th", {scope: "col", class: c.number ? "number" : null}, c.title));
  const body = rows.map((row) => el("tr", {}, shown.map((column, i) => {
    const attributes = {class: column.number ? "number" : null, scope: i === 0 ? "row" : null};
    return el(i === 0 ? "th" : "td", attributes, column.node ? column.node(row) : column.text(row));
  })));
  return el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption},
    el("table", {}, el("thead", {}, el("tr", {}, heading)), el("tbody", {}, body)));
}

/** What `make` gives, made when it is opened. */
function disclosure(summary, make, open) {
  const element = el("details", {}, el("summary", {}, summary));
  let made = false;
  const fill = () => {
    if (!made) element.append(...[make()].flat(Infinity));
    made = true;
  };
  element.addEventListener("toggle", () => element.open && fill());
  if (open) {
    fill();
    element.open = true;
  }
  return element;
}

/** Of a text of lines that begin with '+', '-' or ' ', those that differ with two around them. */
function difference(text) {
  const around = 2;
  const lines = text.replace(/\n$/, "").split("\n");
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - around), i + around + 1).some((line) => line[0] !== " "));
  const out = el("pre", {tabindex: 0});
  for (let i = 0; i < lines.length; ++i) {
    if (!near[i]) {
      let end = i;
      while (end < lines.length && !near[end]) ++end;
      out.append(el("span", {class: "skipped"}, `  … ${end - i} equal lines …\n`));
      i = end - 1;
      continue;
    }
    const kind = {"+": "added", "-": "removed"}[lines[i][0]];
    out.append(kind ? el(kind === "added" ? "ins" : "del", {class: kind, style: "text-decoration: none"}, lines[i]) : lines[i] + "\n");
  }
  return out;
}
