// A network's library: where the time of a call goes, and a picture of its kernels.
"use strict";

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children.flat(Infinity));
  return element;
}

const unitOf = (type) => (/^b?f/.test(type) ? "GFLOP/s" : "GOP/s");
const speed = (step) => step.flops / step.seconds;
const roofOf = (step) => (step.roof === "cache" ? "data in cache" : `${percent(step.share_of_roof)} of its roof${step.roof ? `, ${step.roof}` : ""}`);
const operatorsOf = (step) => (step.operators || []).join(" + ") || step.name;

/** Tensors that go to the next kernel are lines, others arcs, farther out the more kernels they pass. */
function kernelPicture(network) {
  const room = Math.min(document.documentElement.clientWidth, 1120) - 160;
  const row = 24, boxWidth = Math.min(420, 0.55 * room), barWidth = Math.min(300, 0.35 * room), steps = network.steps;
  const lane = (from, to) => 14 * Math.log2(to - from + 1);
  const arcs = steps.flatMap((step, to) => (step.reads || []).map((from) => ({from, to})));
  const left = Math.max(20, ...arcs.map(({from, to}) => lane(from, to))) + 10;
  const slowest = Math.max(...steps.map((step) => step.seconds));
  const middle = (i) => row * i + row / 2;
  const paths = arcs.map(({from, to}) => to === from + 1
    ? svg("path", {d: `M ${left + 16} ${middle(from) + 9} V ${middle(to) - 9}`})
    : svg("path", {d: `M ${left} ${middle(from)} C ${left - lane(from, to)} ${middle(from)} ${left - lane(from, to)} ${middle(to)} ${left} ${middle(to)}`}));
  const most = Math.floor(boxWidth / 6.8);
  const rows = steps.map((step, i) => {
    const text = `${i} ${operatorsOf(step)}`;
    return svg("g", {}, svg("title", {}, `${text}\n${step.name}\n${seconds(step.seconds)}, ${roofOf(step)}`),
      svg("rect", {class: "kernel", x: left, y: middle(i) - 9, width: boxWidth, height: 18, rx: 4}),
      svg("text", {x: left + 6, y: middle(i) + 4}, text.length > most ? `${text.slice(0, most - 1)}…` : text),
      svg("rect", {class: `time ${step.roof || ""}`, x: left + boxWidth + 8, y: middle(i) - 7, width: barWidth * step.seconds / slowest, height: 14}),
      svg("text", {x: left + boxWidth + 14 + barWidth * step.seconds / slowest, y: middle(i) + 4}, seconds(step.seconds)));
  });
  const width = left + boxWidth + barWidth + 90;
  return el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": `The kernels of ${network.name}`},
    svg("svg", {class: "kernels", viewBox: `0 0 ${width} ${row * steps.length}`, width, height: row * steps.length, role: "img",
      "aria-label": `The ${steps.length} kernels of ${network.name} with their times and dependencies. The table below has the times.`},
    svg("g", {class: "tensors"}, paths), rows));
}

/** Steps that compute the same operators, most time first. */
function byOperators(network) {
  const groups = new Map();
  for (const step of network.steps) {
    const group = groups.get(operatorsOf(step)) || {name: operatorsOf(step), count: 0, seconds: 0};
    group.count += 1;
    group.seconds += step.seconds;
    groups.set(group.name, group);
  }
  return [...groups.values()].sort((a, b) => b.seconds - a.seconds);
}

function networkSection(network) {
  const waiting = network.steps.reduce((sum, step) => sum + step.waiting_seconds, 0);
  const peaks = Object.entries(network.peaks_gflops || (network.peak_gflops ? {f32: network.peak_gflops} : {}));
  const facts = [["a call", seconds(network.seconds)], ["threads", String(network.threads)], ["kernels", String(network.steps.length)],
    ["relative to the sum of its steps (medians)", times(network.median_seconds / network.sum_of_medians)], ["threads wait for each other", percent(waiting / network.sum_of_steps)]];
  const groups = byOperators(network);
  const share = (part) => percent(part / network.sum_of_steps);
  const shown = groups.slice(0, 12);
  return [
    el("dl", {class: "facts"}, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    el("p", {class: "note"}, `${network.calls} calls; times are 10th percentiles. ` + (!peaks.length ? "No roof was measured." :
      `A share of the roof is that of ${peaks.map(([type, peak]) => `${operationsIn(unitOf(type))(peak * 1e9)} of multiply-adds in ${type}`).join(", ")}, or of `
      + `${bandwidth(network.copy_gbytes_per_second * 1e9)} of memory copies, whichever takes longer. Data in caches move faster than memory and have no such share.`
      + (network.steps.some((step) => step.share_of_roof > 1) ? " Above 100 %: caches hold part of the data, it skips operations on padding, or the roof was measured on a disturbed machine." : ""))),
    figure({
      title: "Time by operators", summary: `The most, ${share(groups[0].seconds)}, goes to ${groups[0].name}.`, height: barHeight(shown.length),
      configure: barChart(shown.map((group) => ({name: `${group.name} (${group.count})`, value: group.seconds})), {title: "time of a call", format: seconds, beginAtZero: true}),
      data: () => table([{title: "operators", text: (group) => group.name}, {title: "kernels", number: true, text: (group) => String(group.count)},
        {title: "time", number: true, text: (group) => seconds(group.seconds)}, {title: "of all", number: true, text: (group) => share(group.seconds)}], groups, "Time by operators"),
    }),
    el("h3", {}, "Kernels"),
    el("p", {class: "note"}, "In call order. Lines and arcs are tensors from producer to consumer; bars are times, blue if bound by arithmetic, brown if bound by memory."),
    kernelPicture(network),
    disclosure("All kernels as a table", () => table([
      {title: "kernel", text: (step) => String(network.steps.indexOf(step))}, {title: "operators", text: operatorsOf},
      {title: "time", number: true, value: (step) => step.seconds, text: (step) => seconds(step.seconds)},
      {title: "of all", number: true, value: (step) => step.seconds, text: (step) => share(step.seconds)},
      {title: "speed", number: true, value: speed, text: (step) => operationsIn(unitOf(step.type || "f32"))(speed(step))}, {title: "roof", text: (step) => step.roof || missing},
      {title: "share of it", number: true, value: (step) => step.share_of_roof, text: (step) => percent(step.share_of_roof)},
      {title: "waiting", number: true, value: (step) => step.waiting_seconds / step.seconds, text: (step) => percent(step.waiting_seconds / step.seconds)},
      {title: "task", text: (step) => step.name}], network.steps, "Kernels")),
  ];
}
