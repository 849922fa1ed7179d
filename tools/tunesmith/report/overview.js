// All tasks at once: a table to search and to put in order, their budgets, and how far they are below the roofs.
"use strict";

function roofsOf(task) {
  return data.rooflines.find((line) => line.points.some((point) => point.task === task.id));
}
function peakShare(task) {
  const roofs = roofsOf(task);
  const best = bestOf(task);
  return roofs && roofs.operations_per_second && best && best.operations_per_second !== null
    ? best.operations_per_second / roofs.operations_per_second : null;
}
function gain(task) {
  const best = bestOf(task);
  return best && task.unscheduled && task.unscheduled.seconds ? task.unscheduled.seconds / best.seconds : null;
}

/** Where a point is from, and the command that prints it. */
function whereFrom({name, record, task}) {
  const database = data.store && ` --database ${/^[\w./-]+$/.test(data.store) ? data.store : `'${data.store.replaceAll("'", "'\\''")}'`}`;
  const parts = [name ? `${name}: ` : ""];
  if (record) parts.push("record ", el("code", {}, record), ", ", el("code", {}, `tunesmith records show ${record}${database}`), " ");
  if (!record && task) parts.push("task ", el("code", {}, task), " ");
  if (!task) return record ? parts : [];
  const link = el("a", {href: `#${anchorOf(task)}`}, record ? "its row" : "its section");
  link.addEventListener("click", (event) => {
    event.preventDefault();
    goTo(task, record);
  });
  return [...parts, "(", link, ")"];
}

/** Opens a task, and shows the row of a record where one has its own. */
function goTo(id, record) {
  const section = document.getElementById(anchorOf(id));
  if (!section) return;
  section.reveal();
  const row = record && document.getElementById(`record-${record}`);
  (row || section).scrollIntoView();
  if (!row) return;
  row.classList.add("named");
  row.closest(".scroll").focus({preventScroll: true});
}

const taskLink = (id, text) => {
  const link = el("a", {href: `#${anchorOf(id)}`}, text);
  link.addEventListener("click", () => goTo(id));
  return link;
};

const aboveThePeak = "Above 100 %: the peak is that of plain multiply-adds and may be disturbed, and operations on padding count even if a program skips them.";

/** With more than a few tasks they can be searched and put in order, on a screen that has no room for headings, too. */
function overview() {
  const trials = (task) => total(task.runs, (run) => run.trials);
  const failed = (task) => total(task.failures, (one) => one.count);
  const time = (task) => bestOf(task) && bestOf(task).seconds;
  const speed = (task) => bestOf(task) && bestOf(task).operations_per_second;
  const tasks = table([
    {title: "task", text: nameOf, node: (task) => taskLink(task.id, nameOf(task))},
    {title: "best", number: true, value: time, text: (task) => timeOf(task, time(task))},
    {title: "speed", number: true, value: speed, text: (task) => rate(task, speed(task))},
    {title: "machine", text: (task) => (manyMachines() ? machineName(task.machine) : missing)},
    {title: "threads", number: true, value: (task) => task.threads, text: (task) => number(task.threads)},
    {title: "runs", number: true, value: (task) => task.runs.length, text: (task) => number(task.runs.length)},
    {title: "trials", number: true, value: trials, text: (task) => String(trials(task))},
    {title: "failed", number: true, value: failed, text: (task) => String(failed(task))},
    {title: "of the peak", number: true, value: peakShare, text: (task) => percent(peakShare(task))},
    {title: "speedup over unscheduled", number: true, value: gain, text: (task) => times(gain(task))},
  ], data.tasks, "Tasks");
  const remark = data.tasks.some((task) => peakShare(task) > 1) ? el("p", {class: "note"}, aboveThePeak) : null;
  const causes = new Map();
  data.tasks.forEach((task) => task.failures.forEach((one) => causes.set(one.cause, (causes.get(one.cause) || 0) + one.count)));
  const failures = causes.size ? el("p", {}, `Without a time: ${[...causes].sort((a, b) => b[1] - a[1]).map(([cause, count]) => `${cause} ${count}`).join(", ")}.`) : null;
  const few = 5;
  if (data.tasks.length <= few) return [tasks, failures, remark];
  const search = el("input", {type: "search", id: "search", placeholder: "conv2d, [56, 56, or a task's id"});
  const found = el("span", {role: "status"});
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (task) => words.every((word) => `${nameOf(task)} ${task.id} ${machineName(task.machine)}`.toLowerCase().includes(word));
    tasks.keep(fits);
    for (const task of data.tasks) document.getElementById(anchorOf(task.id)).hidden = !fits(task);
    found.textContent = words.length ? `${data.tasks.filter(fits).length} of ${data.tasks.length}` : "";
  });
  const order = el("select", {id: "order"}, el("option", {value: ""}, "in tuning order"),
    tasks.columns.flatMap((column, i) => [false, true].map((descending) =>
      el("option", {value: `${i} ${descending ? 1 : 0}`}, `${column.title}, ${column.number ? (descending ? "largest first" : "smallest first") : (descending ? "Z to A" : "A to Z")}`))));
  order.addEventListener("change", () => {
    const [column, descending] = order.value.split(" ").map(Number);
    if (order.value === "") tasks.order({value: (task) => data.tasks.indexOf(task)}, false);
    else tasks.order(tasks.columns[column], descending === 1);
  });
  return [el("p", {class: "tools"}, el("label", {}, "Search", search), found, el("label", {}, "Order", order)), tasks, failures, remark];
}

function budget(call) {
  const all = total(call.runs, (run) => run.trials);
  return figure({
    title: "Trials of each task",
    note: `${all} trials in ${seconds(call.seconds)} by one command: ${call.command}`,
    summary: `${call.runs.length} tasks shared ${all} trials.`,
    configure: xyChart(call.runs.map((run) => ({name: titleOf(run.task), points: run.spent.map(([x, y]) => [x, y, {name: titleOf(run.task), task: run.task}]), stepped: true, dots: false})),
      {title: "time since the start of the command", format: seconds, min: 0}, {title: "trials so far", integer: true, min: 0}),
    data: () => table([
      {title: "task", text: (run) => titleOf(run.task), node: (run) => taskLink(run.task, titleOf(run.task))},
      {title: "run", text: (run) => run.run},
      {title: "trials", number: true, value: (run) => run.trials, text: (run) => String(run.trials)},
      {title: "of all", number: true, text: (run) => percent(all ? run.trials / all : null)},
    ], call.runs, "Trials of each task"),
  });
}

/** When a roof was measured, and what is doubtful of it. */
function roofRemark(measured) {
  return ` (${date(measured.time_ms).slice(0, 16)}${measured.disturbed ? ", on a disturbed machine: it may be higher" : ""})`;
}

function roofline(line) {
  const modelled = isModelled(line);
  const peak = line.operations_per_second;
  const copied = line.copied_bytes_per_second;
  const roofAt = (intensity) => Math.min(...[peak, copied && copied * intensity].filter((roof) => roof !== null));
  const intensities = line.points.map((point) => point.operations_per_byte);
  const ridge = peak && copied ? [peak / copied] : [];
  const first = Math.min(...intensities, ...ridge) / 2;
  const last = Math.max(...intensities, ...ridge) * 2;
  const speedIn = operationsIn(line.rate_unit || "GFLOP/s");
  const about = (p, name, record) => ({name: `${titleOf(p.task)}, ${name}`, task: p.task, record});
  const series = [{name: "best program", line: false, points: line.points.map((p) => [p.operations_per_byte, p.operations_per_second, about(p, "best program", p.record)])}];
  const plain = line.points.filter((p) => p.unscheduled_operations_per_second !== null);
  if (plain.length) series.push({name: "unscheduled", line: false, hollow: true, points: plain.map((p) => [p.operations_per_byte, p.unscheduled_operations_per_second, about(p, "unscheduled")])});
  if (peak || copied) {
    const corners = peak && copied ? [first, peak / copied, last] : [first, last];
    series.push({name: modelled ? "modelled roof" : "measured roof", plain: true, dots: false, points: corners.map((x) => [x, roofAt(x)])});
  }
  const roofs = [
    modelled && peak ? `The model's peak is ${speedIn(peak)}; all times are modelled, not measured.`
      : peak ? `The target's peak kernel reached ${speedIn(peak)} on ${line.threads} threads${roofRemark(line.operations_measured)}.` : "The arithmetic peak was not measured.",
    copied ? `Memory copies reached ${bandwidth(copied)}, read and written${roofRemark(line.copying_measured)}.` : "The memory bandwidth was not measured: run tunesmith report --measure-roofs.",
  ].join(" ");
  return figure({
    title: modelled ? `${line.type} on ${line.target}, modelled`
      : `${line.type} on ${line.threads} ${line.threads === 1 ? "thread" : "threads"} of ${machineName(line.machine)}`,
    note: `${roofs} Bytes count each input and output once; a program whose data fit into a cache may be above the slope.`
      + (line.points.some((p) => peak && p.operations_per_second > peak) ? ` ${aboveThePeak}` : ""),
    summary: roofs,
    configure: xyChart(series, {title: "operations per byte", log: true, min: first, max: last}, {title: "operations per second", log: true, format: speedIn}),
    data: () => table([
      {title: "task", text: (p) => titleOf(p.task), node: (p) => taskLink(p.task, titleOf(p.task))},
      {title: "operations per byte", number: true, value: (p) => p.operations_per_byte, text: (p) => number(p.operations_per_byte)},
      {title: "best", number: true, value: (p) => p.operations_per_second, text: (p) => speedIn(p.operations_per_second)},
      {title: "roof", number: true, text: (p) => (peak && copied ? speedIn(roofAt(p.operations_per_byte)) : missing)},
      {title: "of the roof", number: true, text: (p) => (peak && copied ? percent(p.operations_per_second / roofAt(p.operations_per_byte)) : missing)},
      {title: "of the peak", number: true, value: (p) => p.operations_per_second, text: (p) => percent(peak ? p.operations_per_second / peak : null)},
      {title: "unscheduled", number: true, text: (p) => speedIn(p.unscheduled_operations_per_second)},
    ], line.points, "Roofline"),
  });
}
