// The sections of the report, each drawn from one key of the data.
"use strict";

const anchorOf = (id) => `task-${id}`;
const runName = (run) => `${run.space}, seed ${run.seed}, ${date(run.began_ms).slice(5, 16)}`;
/** "searcher evolutionary population=64 ..", a stage a line: the ids alone. */
const idsOf = (text) => [...text.matchAll(/^\s*(?:searcher|cost_model) (\S+)/gm)].map((match) => match[1]).join(", then ") || text;
const total = (list, value) => list.reduce((sum, one) => sum + value(one), 0);
/// Of a device that is not here: no program ran on it.
const isModelled = (task) => task.device === "modelled";
const timeOf = (task, value) => seconds(value) + (isModelled(task) && value !== null ? " modelled" : "");
const bestOf = (task) => task.best[0] || null;
/** Of a network's task, whose text is a name alone, with its shapes. */
const nameOf = (task) => (task.shapes && !task.workload.includes(":") ? `${task.workload} ${task.shapes}` : task.workload);
const titleOf = (id) => nameOf(data.tasks.find((task) => task.id === id));
const rate = (task, value) => operationsIn(task.rate_unit || "GFLOP/s")(value);
const section = (title, ...children) => (children.flat().some(Boolean) ? [el("h3", {}, title), ...children] : []);

/** Two machines of one model are told apart by a piece of what identifies them. */
function machineName(machine) {
  const environment = data.environments.find((one) => one.machine === machine);
  return `${environment && environment.cpu_model ? environment.cpu_model : "machine"} (${machine.slice(0, 4)})`;
}
const manyMachines = () => new Set(data.tasks.map((task) => task.machine)).size > 1;

function facts(task) {
  const best = bestOf(task);
  const shown = [
    ["best", best && timeOf(task, best.seconds)],
    ["speed", best && rate(task, best.operations_per_second)],
    [isModelled(task) ? "of the modelled peak" : "of the measured peak", percent(peakShare(task))],
    ["speedup over unscheduled", times(gain(task))],
    ["trials", String(total(task.runs, (run) => run.trials))],
  ].filter(([, value]) => value && value !== missing);
  return [el("dl", {class: "facts"}, shown.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    peakShare(task) > 1 ? el("p", {class: "note"}, aboveThePeak) : null];
}

function progressSection(task) {
  const curves = task.runs.filter((run) => run.best.length);
  const points = curves.flatMap((run) => run.best.map(([trial, after, best, record]) => ({run, trial, after, best, record})));
  const columns = [
    {title: "run", text: (p) => `${p.run.id} (${runName(p.run)})`},
    {title: "trial", number: true, text: (p) => String(p.trial)},
    {title: "after", number: true, text: (p) => seconds(p.after)},
    {title: "fastest sample so far", number: true, text: (p) => seconds(p.best)},
    {title: "record", text: (p) => p.record, node: (p) => el("code", {}, p.record)},
  ];
  const chart = (title, x, value) => figure({
    title,
    summary: `The fastest samples of ${curves.length} ${curves.length === 1 ? "run" : "runs"}: ${curves.map((run) => seconds(run.best[run.best.length - 1][2])).join(", ")}.`,
    configure: xyChart(curves.map((run) => ({name: runName(run), stepped: true, small: true, points: run.best.map((one) => [...value(one), {name: `trial ${one[0]} of run ${run.id}`, task: task.id, record: one[3]}])})), x,
      {title: "fastest sample so far", log: true, format: seconds}),
    data: () => table(columns, points, title),
  });
  const charts = curves.length ? el("div", {class: "pair"},
    chart("Fastest sample by trials", {title: "trials", integer: true, min: 0}, ([trial, , best]) => [trial, best]),
    chart("Fastest sample by time", {title: "time since the start of the run", format: seconds, min: 0}, ([, after, best]) => [after, best])) : null;
  const runs = table([
    {title: "run", text: (run) => run.id, node: (run) => el("code", {}, run.id)},
    {title: "began", number: true, text: (run) => date(run.began_ms)},
    {title: "took", number: true, text: (run) => seconds(run.seconds)},
    {title: "ended", text: (run) => run.ended_because || "not ended"},
    {title: "space", text: (run) => run.space},
    {title: "seed", number: true, text: (run) => String(run.seed)},
    {title: "searcher", text: (run) => idsOf(run.searcher)},
    {title: "cost model", text: (run) => idsOf(run.cost_model)},
    {title: "trials", number: true, text: (run) => String(run.trials)},
    {title: "valid", number: true, text: (run) => String(run.valid)},
  ], task.runs, "Runs");
  const told = (run) => [`command: ${run.command}`, run.searcher.trim(), run.cost_model.trim(), `options: ${run.options}`].join("\n");
  return section("Progress", charts, el("p", {}, el("strong", {}, task.runs.length === 1 ? "The run" : "The runs")), runs,
    disclosure("Commands and options", () => task.runs.map((run) => [el("p", {}, el("code", {}, run.id)), el("pre", {tabindex: 0}, told(run))])));
}

function failureSection(task) {
  const tried = total(task.runs, (run) => run.trials);
  if (!tried) return [];
  if (!task.failures.length) return section("Failures", el("p", {}, `None: all ${tried} measured programs are correct.`));
  return section("Failures", figure({
    title: `${total(task.failures, (one) => one.count)} of ${tried} programs have no time`,
    summary: task.failures.map((one) => `${one.cause}: ${one.count}`).join(", ") + ".",
    height: barHeight(task.failures.length),
    configure: barChart(task.failures.map((one) => ({name: one.cause, value: one.count})), {title: "programs", integer: true, beginAtZero: true}),
    data: () => table([
      {title: "cause", text: (one) => one.cause},
      {title: "programs", number: true, text: (one) => String(one.count)},
      {title: "of all", number: true, text: (one) => percent(one.count / tried)},
      {title: "meaning", text: (one) => one.meaning},
      {title: "first message", text: (one) => one.message || missing},
    ], task.failures, "Failures by cause"),
  }));
}

function modelSection(task) {
  const title = "Cost-model accuracy";
  if (isModelled(task))
    return section(title, el("p", {}, "All times of this task are modelled, so the accuracy of a cost model does not apply to a device."));
  if (!task.predictions.length)
    return section(title, el("p", {}, "No recorded scores: the cost model was not used."));
  const name = (of) => runName(task.runs.find((run) => run.id === of.run));
  // Scores of different models have different units.
  const models = [...new Set(task.predictions.map((of) => of.cost_model))];
  const scatters = models.map((model) => {
    const its = task.predictions.filter((of) => of.cost_model === model);
    return figure({
      title: `Scores of ${idsOf(model)} and measured times`,
      note: "Scores of programs when proposed, before the model was trained on their times. Higher is better; units depend on the model.",
      summary: `${total(its, (of) => of.programs.length)} programs.`,
      configure: xyChart(its.map((of) => ({name: name(of), line: false, small: true, points: of.programs.filter(([, time]) => time !== null)
        .map(([score, time, record]) => [score, time, {name: `run ${of.run}`, task: task.id, record}])})),
        {title: "score"}, {title: "measured", log: true, format: seconds}),
      data: () => table([
        {title: "run", text: (p) => p.run},
        {title: "score", number: true, value: (p) => p.score, text: (p) => number(p.score)},
        {title: "measured", number: true, value: (p) => p.time, text: (p) => (p.time === null ? "failed" : seconds(p.time))},
        {title: "record", text: (p) => p.record, node: (p) => el("code", {}, p.record)},
      ], its.flatMap((of) => of.programs.map(([score, time, record]) => ({run: of.run, score, time, record}))), "Scores and times"),
    });
  });
  const judged = task.predictions.filter((of) => of.batches.length);
  const byRound = (figureTitle, note, key) => figure({
    title: figureTitle,
    note,
    summary: `The last round: ${judged.map((of) => number(of.batches[of.batches.length - 1][key])).join(", ")}.`,
    configure: xyChart(judged.map((of) => ({name: `${idsOf(of.cost_model)}: ${name(of)}`, points: of.batches.map((b) => [b.trials, b[key]])})),
      {title: "trials before the round", integer: true, min: 0}, {title: "", suggestedMin: 0, max: 1}),
    data: () => table([
      {title: "run", text: (b) => b.run},
      {title: "trials before", number: true, text: (b) => String(b.trials)},
      {title: "programs", number: true, text: (b) => String(b.programs)},
      {title: figureTitle.toLowerCase(), number: true, text: (b) => number(b[key])},
    ], judged.flatMap((of) => of.batches.map((batch) => ({run: of.run, ...batch}))), figureTitle),
  });
  const rounds = judged.length ? [
    byRound("Rank correlation by round", "1 is a perfect ranking, 0 is chance.", "rank_correlation"),
    byRound("Best of the top eighth by round", "Speed of the fastest program among the top-scored eighth, relative to the round's fastest.", "best_of_eighth"),
  ] : [];
  return section(title, el("div", {class: "pair"}, scatters, rounds));
}

function decisionSection(task) {
  const title = "Influence of decisions";
  if (!task.decisions.programs) return [];
  if (!task.decisions.sketches.length)
    return section(title, el("p", {}, `${task.decisions.programs} timed programs are too few: a sketch needs 16.`));
  return section(title,
    el("p", {class: "note"}, "Share of the variance of log seconds explained by each decision, corrected for the number of values. "
      + "Shares within the outlined bar, the 95th percentile for shuffled times, are not significant. A search samples promising values more often: the shares "
      + "show association with fast programs, not causes."),
    task.decisions.sketches.map((sketch, i) => figure({
      title: `Sketch ${i + 1} of ${task.decisions.sketches.length}: ${sketch.programs} programs, the fastest ${seconds(sketch.seconds)}`,
      summary: sketch.decisions.slice(0, 3).map((one) => `${one.decision}: ${percent(one.explained)}`).join(", ") + ".",
      height: barHeight(sketch.decisions.length),
      configure: barChart(sketch.decisions.map((one) => ({name: one.decision, value: one.explained, mark: one.chance})),
        {title: "explained", format: percent, min: 0, max: 1}, "by chance, one in twenty"),
      data: () => table([
        {title: "decision", text: (one) => one.decision},
        {title: "explained", number: true, text: (one) => percent(one.explained)},
        {title: "by chance", number: true, text: (one) => percent(one.chance)},
        {title: "values, the fastest first (programs, geometric mean)", text: (one) => one.values.slice(0, 6)
          .map((v) => `${v.value} (${v.programs}, ${seconds(v.seconds)})`).join("; ") + (one.values.length > 6 ? "; …" : "")},
      ], sketch.decisions, "Decisions"),
    })));
}

function programSection(task) {
  const title = "The best program";
  const best = bestOf(task);
  if (!best) return section(title, el("p", {}, "No valid program found."));
  const listed = task.best.map((one, i) => ({...one, place: String(i + 1)}));
  if (task.unscheduled) listed.push({...task.unscheduled, place: "unscheduled"});
  return section(title,
    table([
      {title: "place", text: (one) => one.place},
      {title: "time", number: true, text: (one) => timeOf(task, one.seconds)},
      {title: "of the best", number: true, text: (one) => times(one.seconds ? one.seconds / best.seconds : null)},
      {title: "speed", number: true, text: (one) => rate(task, one.operations_per_second)},
      {title: "measured in", text: (one) => one.kind},
      {title: "samples", number: true, text: (one) => String(one.samples)},
      {title: "preparation", number: true, text: (one) => seconds(one.prepare_seconds)},
      {title: "space", text: (one) => one.space},
      {title: "record", text: (one) => one.record, node: (one) => el("code", {}, one.record)},
      {title: "run", text: (one) => one.run, node: (one) => el("code", {}, one.run)},
    ], listed, "The best programs", (one) => `record-${one.record}`),
    el("p", {class: "note"}, "In the order of the record store, over all runs: ranked programs, timed in turn with each other, first."),
    task.never_compared ? el("p", {class: "notice"}, "Not ranked: the best programs were never timed in turn, so another may be faster. 'tunesmith build' ranks them.") : null,
    task.program_fault === null ? null
      : el("p", {class: "notice"}, task.program === null ? `The program cannot be printed: ${task.program_fault}` : `A faster recorded program is omitted: ${task.program_fault}`),
    task.program === null ? null
      : disclosure("The program", () => el("pre", {tabindex: 0}, task.program), true),
    task.versus_runner_up === null ? null : disclosure("Difference of its trace from the second best", () => difference(task.versus_runner_up), true),
    task.versus_unscheduled === null ? null : disclosure("Difference of its trace from the unscheduled program", () => difference(task.versus_unscheduled)),
    disclosure("Its trace", () => el("pre", {tabindex: 0}, task.trace)));
}

/** With many tasks each is closed until it is asked for. */
function taskSection(task) {
  const best = bestOf(task);
  const heading = [el("h2", {}, nameOf(task)), el("span", {class: "note"}, best ? [timeOf(task, best.seconds), rate(task, best.operations_per_second)].filter((text) => text !== missing).join(", ") : "no program")];
  const few = 2;
  const section = disclosure(heading, () => [
    el("p", {class: "note"}, `Task `, el("code", {}, task.id), `: ${task.threads} ${task.threads === 1 ? "thread" : "threads"}${task.device ? ` on ${task.device}` : ""} of ${machineName(task.machine)}, `,
      el("code", {}, task.target)),
    task.workload_fault ? el("p", {class: "notice"}, `Its arithmetic is unknown: ${task.workload_fault}`) : null,
    facts(task), progressSection(task), failureSection(task), modelSection(task), decisionSection(task), programSection(task),
  ], data.tasks.length <= few);
  section.id = anchorOf(task.id);
  section.className = "task";
  return section;
}

/** How ways of searching did under equal conditions: medians over the seeds, as `compare` prints them. */
function comparisonSection(comparison) {
  const never = "never";
  const atSpeed = known((of) => (of.runs ? `${of.trials.median === null ? never : number(of.trials.median)}` : never));
  const bound = (is, mark) => (is ? mark : "");
  const overall = table([
    {title: "strategy", text: (one) => one.strategy},
    {title: "speed", number: true, text: (one) => times(one.speed)},
    {title: "worst", number: true, text: (one) => times(one.worst_speed)},
    {title: "p", number: true, text: (one) => (one.final_test.pairs ? number(one.final_test.p_value) : missing)},
    {title: "trials to 95 %", number: true, text: (one) => bound(one.trials_to_95_is_bound, "~") + times(one.trials_to_95)},
    {title: "p of the trials", number: true, text: (one) => (one.trials_test.pairs ? number(one.trials_test.p_value) : missing)},
    {title: "trials to own final", number: true, text: (one) => bound(one.trials_to_baseline_final_is_bound, ">") + percent(one.trials_to_baseline_final)},
    {title: "latency", number: true, text: (one) => seconds(one.latency_seconds)},
  ], comparison.overall, "Search strategies");
  const workload = (of) => {
    const curve = (key, title, x) => figure({
      title,
      note: `The median over ${comparison.seeds} seeds of the best program so far, as a share of the best known speed; the table has the quartiles.`,
      summary: of.strategies.map((one) => `${one.strategy}: ${seconds(one.final_seconds.median)}`).join(", ") + ".",
      configure: xyChart(of.strategies.map((one) => ({name: one.strategy, stepped: true, small: true,
        points: one[key].filter((p) => p.best_seconds.median !== null).map((p) => [p.at, of.best_known_seconds / p.best_seconds.median])})),
      x, {title: "share of the best known speed", max: 1}),
      data: () => table([
        {title: "strategy", text: (p) => p.strategy},
        {title: x.title, number: true, text: (p) => number(p.at)},
        {title: "median", number: true, text: (p) => seconds(p.best_seconds.median)},
        {title: "lower quartile", number: true, text: (p) => seconds(p.best_seconds.low)},
        {title: "upper quartile", number: true, text: (p) => seconds(p.best_seconds.high)},
      ], of.strategies.flatMap((one) => one[key].map((p) => ({strategy: one.strategy, ...p}))), title),
    });
    return [
      el("h3", {}, of.workload),
      el("div", {class: "pair"}, curve("by_trials", "Best program by trials", {title: "trials", integer: true, min: 0}),
        curve("by_wall_seconds", "Best program by time", {title: "seconds", min: 0})),
      table([
        {title: "strategy", text: (one) => one.strategy},
        {title: "final", number: true, text: (one) => seconds(one.final_seconds.median)},
        {title: "quartiles", number: true, text: (one) => `${seconds(one.final_seconds.low)} to ${seconds(one.final_seconds.high)}`},
        {title: "speed", number: true, text: (one) => times(one.speed_over_baseline)},
        {title: "trials to 95 %", number: true, text: (one) => `${atSpeed(one.trials_to_95)} (${one.trials_to_95.runs}/${one.runs})`},
        {title: "to 99 %", number: true, text: (one) => `${atSpeed(one.trials_to_99)} (${one.trials_to_99.runs}/${one.runs})`},
        {title: "took", number: true, text: (one) => seconds(one.wall_seconds)},
        {title: "share spent searching", number: true, text: (one) => percent(one.search_share)},
        {title: "rank correlation", number: true, text: (one) => number(one.model.rank_correlation)},
        {title: "RMSE", number: true, text: (one) => number(one.model.rmse)},
        {title: "failed", number: true, text: (one) => String(total(Object.values(one.failures), (count) => count))},
      ], of.strategies, of.workload),
    ];
  };
  return [
    el("p", {class: "note"}, `${comparison.seeds} seeds, ${comparison.trials} trials each, against ${comparison.baseline}: geometric means of medians over the `
      + "workloads; p of Wilcoxon's signed-rank test. ~ and > mark bounds: some searches did not reach the level."),
    overall, comparison.workloads.map(workload),
  ];
}

function environmentSection() {
  return data.environments.map((environment) => {
    const rows = Object.entries(environment).map(([name, value]) => {
      const text = Array.isArray(value) ? value.join(" ") : value && typeof value === "object"
        ? Object.entries(value).map(([id, version]) => `${id} ${version}`).join(", ") : String(value);
      return {name: name.replaceAll("_", " "), text: text || "unknown"};
    });
    return [el("h3", {}, environment.cpu_model || environment.hash),
      disclosure("All details", () => table([{title: "fact", text: (row) => row.name}, {title: "value", text: (row) => row.text}], rows, "Environment"))];
  });
}

/** Who measures, and how many jobs wait, as `fleet` prints them. */
function fleetSection(fleet) {
  if (fleet.fault) return el("p", {class: "notice"}, fleet.fault);
  if (!fleet.identities.length) return el("p", {}, `No workers at ${fleet.broker}.`);
  const workers = fleet.identities.flatMap((identity) => identity.workers.map((worker) => ({identity, ...worker})));
  return [
    fleet.identities.map((one) => el("p", {}, el("code", {}, one.identity), `: ${one.workers.length} of ${one.consumers} workers answer, ${one.waiting} jobs wait`)),
    table([
      {title: "worker", text: (one) => one.name},
      {title: "identity", text: (one) => one.identity.identity},
      {title: "threads", number: true, text: (one) => String(one.identity.threads)},
      ...["done", "failed", "disturbed", "refused"].map((title) => ({title, number: true, value: (one) => one[title], text: (one) => String(one[title])})),
      {title: "doubt", text: (one) => one.doubt || missing},
    ], workers, "Workers"),
  ];
}

function report() {
  const main = document.getElementById("report");
  const contents = document.getElementById("contents");
  forgetCharts();
  main.replaceChildren();
  contents.replaceChildren();
  const add = (id, title, ...children) => {
    main.append(...[el("h2", {id}, title), ...children.flat(Infinity)].filter(Boolean));
    contents.append(el("li", {}, el("a", {href: `#${id}`}, title)));
  };
  document.getElementById("about").textContent = (data.store === null ? "Output of other commands" : `${data.store}, ${data.records} records`)
    + `, on ${date(data.made_ms)} by Tunesmith ${data.tunesmith}. `;
  if (!canDraw) {
    main.append(el("p", {class: "notice"}, "This page has tables only: this build has no charting library (Debian: libjs-chart.js)."));
  }
  if (data.fleet) add("fleet", "Workers", fleetSection(data.fleet));
  const comparisons = data.comparisons || [];
  const networks = data.networks || [];
  if (!data.tasks.length && !comparisons.length && !networks.length) {
    main.append(el("p", {class: "notice"}, "Nothing to report: no recorded search measurements."));
    return;
  }
  networks.forEach((network, i) => add(`network-${i + 1}`, `Network ${network.name}, ${network.threads} thread${network.threads === 1 ? "" : "s"}`, networkSection(network)));
  if (data.tasks.length) add("tasks", "Tasks", overview());
  if (data.budgets.length) add("budgets", "Shared budgets", data.budgets.map(budget));
  if (data.rooflines.length) add("roofline", "Roofline", data.rooflines.map(roofline));
  main.append(...data.tasks.map(taskSection));
  comparisons.forEach((comparison, i) =>
    add(`comparison-${i + 1}`, comparisons.length > 1 ? `Search strategies, ${i + 1}` : "Search strategies", comparisonSection(comparison)));
  if (data.environments.length) add("environment", "Environment", environmentSection());
}

let data = JSON.parse(document.getElementById("data").textContent);
report();
redraw();
const followed = () => {
  const named = data.tasks.find((task) => location.hash === `#${anchorOf(task.id)}`);
  if (named) goTo(named.id);
};
window.addEventListener("hashchange", followed);
followed();
