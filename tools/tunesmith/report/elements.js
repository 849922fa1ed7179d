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
    if (value === 0) return "0";
    const [size, name] = units.find(([size]) => Math.abs(value) >= size) || units[units.length - 1];
    const number = value / size;
    return `${number >= 1000 ? Math.round(number) : digits(number)} ${name}`;
  });
}
const seconds = scaled([[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]]);
/** "GFLOP/s", or "GOP/s" where they are of integers. */
const operationsIn = (unit) => scaled([[1e12, unit.replace(/^G/, "T")], [1e9, unit], [1e6, unit.replace(/^G/, "M")]]);
const operations = operationsIn("GFLOP/s");
const bandwidth = scaled([[1e9, "GB/s"], [1e6, "MB/s"]]);
const percent = known((share) => `${digits(100 * share)} %`);
const times = known((factor) => `${digits(factor)} ×`);
const number = known((value) => digits(value, 4));
const date = known((ms) => new Date(ms).toISOString().replace("T", " ").slice(0, 19) + " UTC");

const chosenOrders = new Map();  // by caption: of a page that is drawn again

const sortKey = (column) => column.value || (column.number ? null : column.text);
/** Without a value last, whichever way it goes. */
function inOrder(column, descending) {
  const key = sortKey(column);
  const lacks = (value) => value === null || value === undefined || value === missing;
  return (a, b) => {
    const [one, other] = [key(a.row), key(b.row)];
    if (lacks(one) || lacks(other)) return lacks(one) - lacks(other);
    return (one < other ? -1 : one > other ? 1 : 0) * (descending ? -1 : 1);
  };
}

/**
 * `columns`: [{title, text: row => string, number: is it one, value: row => what it is sorted by, node}]; the first one names
 * the row. Columns in which no row has anything are left out. `id`: row => that of its line, or null. What is returned can be
 * sorted, order(column, descending), and made shorter, keep(test of a row).
 */
function table(columns, rows, caption, id) {
  const shown = columns.filter((column, i) => i === 0 || rows.some((row) => column.text(row) !== missing));
  const lines = rows.map((row) => ({row, line: el("tr", {id: id ? id(row) : null}, shown.map((column, i) => {
    const attributes = {class: column.number ? "number" : null, scope: i === 0 ? "row" : null, "data-title": column.title};
    return el(i === 0 ? "th" : "td", attributes, column.node ? column.node(row) : column.text(row));
  }))}));
  const body = el("tbody", {}, lines.map(({line}) => line));
  const headings = shown.map((column) => el("th", {scope: "col", class: column.number ? "number" : null}));
  const order = (column, descending) => {
    headings.forEach((heading, i) => heading.setAttribute("aria-sort", shown[i] !== column ? "none" : descending ? "descending" : "ascending"));
    body.append(...[...lines].sort(inOrder(column, descending)).map(({line}) => line));
  };
  shown.forEach((column, i) => {
    if (rows.length < 3 || !sortKey(column)) return headings[i].append(column.title);
    const button = el("button", {type: "button", title: `Sort by ${column.title}`}, column.title);
    button.addEventListener("click", () => {
      chosenOrders.set(caption, [column.title, headings[i].getAttribute("aria-sort") === "ascending"]);
      order(column, chosenOrders.get(caption)[1]);
    });
    headings[i].append(button);
    const [title, descending] = chosenOrders.get(caption) || [];
    if (title === column.title) order(column, descending);
  });
  const holder = el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption},
    el("table", {}, el("thead", {}, el("tr", {}, headings)), body));
  return Object.assign(holder, {columns: shown, order, keep: (test) => lines.forEach(({row, line}) => { line.hidden = !test(row); })});
}

/** What `make` gives, made when it is opened. */
function disclosure(summary, make, open) {
  const element = el("details", {}, el("summary", {}, ...[summary].flat()));
  let made = false;
  const fill = () => {
    if (made) return;
    made = true;
    element.append(...[make()].flat(Infinity).filter(Boolean));
    drawNew();
  };
  element.reveal = () => {
    element.open = true;
    fill();
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
