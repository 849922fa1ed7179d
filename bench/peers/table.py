"""The table in Markdown, from the results' JSON alone."""
from estimates import geometric_mean

OTHERS = ["torch", "compiled", "autotuned", "onnxruntime", "onednn", "mkl", "openblas", "tvm"]
TITLES = {"torch": "PyTorch", "compiled": "PyTorch, compiled", "autotuned": "PyTorch, autotuned", "onnxruntime": "onnxruntime", "onednn": "oneDNN, packed",
          "mkl": "MKL, packed", "openblas": "OpenBLAS", "tvm": "TVM"}


def time_text(seconds):
    unit, scale = ("s", 1) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    return f"{seconds * scale:.3g} {unit}"


def ratio_text(ratio):
    low, high = ratio["interval"]
    return f"{ratio['value']:.2f} ({low:.2f} to {high:.2f})"


def best(row):
    """The fastest library's name; TVM, a tuner, does not count."""
    ratios = {name: ratio for name, ratio in row.get("ratios", {}).items() if name != "tvm"}
    return min(ratios, key=lambda name: ratios[name]["value"]) if ratios else None


def peer_cell(row, name):
    if name in row.get("ratios", {}):
        return ratio_text(row["ratios"][name])
    if name in row.get("errors", {}):
        return "**error**"
    return "-"


def row_cells(row, others):
    head = [row["section"], f"`{row['name']}`" + ("*" if row.get("loaded") else "")]
    if "tunesmith" not in row.get("times", {}):
        return head + ["**error**"] + [""] * (len(others) + 2)
    own, fastest = row["times"]["tunesmith"], best(row)
    low, high = own["interval"]
    roof = None if row.get("loaded") else row.get("share_of_roof")  # a busy machine has no peak
    return head + [f"{time_text(own['value'])} ({time_text(low)} to {time_text(high)})", f"{100 * roof:.0f} %" if roof else "-",
                   f"**{row['ratios'][fastest]['value']:.2f}** {TITLES[fastest]}" if fastest else "-", *(peer_cell(row, name) for name in others)]


def means(rows, others):
    """The line of geometric means, each over the rows that have that ratio."""
    fastest = [row["ratios"][best(row)]["value"] for row in rows if best(row)]
    cells = ["", "geometric mean", "", "", f"**{geometric_mean(fastest):.2f}** of {len(fastest)}" if fastest else "-"]
    for name in others:
        values = [row["ratios"][name]["value"] for row in rows if name in row.get("ratios", {})]
        cells.append(f"{geometric_mean(values):.2f} of {len(values)}" if values else "-")
    return cells


def line(cells):
    return "| " + " | ".join(cells) + " |"


def section(title, rows):
    others = [name for name in OTHERS if any(name in row.get("ratios", {}) or name in row.get("errors", {}) for row in rows)]
    head = ["", "workload", "time", "of the roof", "fastest library"] + [TITLES[name] for name in others]
    lines = [f"### {title}", "", line(head), "|" + "---|" * len(head)]
    lines += [line(row_cells(row, others)) for row in rows]
    lines.append(line(means(rows, others)))
    return lines + [""]


def markdown(results):
    settings, machine = results["settings"], results["machine"]
    ours = f"{settings['trials']} trials of `{settings['space']}`, seed {settings['seed']}"
    if settings.get("trace"):
        ours = f"the trace `{settings['trace']}`"
    lines = [f"{machine['model']}, {settings['threads']} threads; {ours}. "
             "Other columns: their time over ours, more than 1 where Tunesmith is faster. Times are 10th percentiles of rounds in which everyone "
             "was timed in turn, with intervals of 95 % (bootstrap). The roof is the larger of the operations at the measured peak and a copy of "
             "as many bytes.", ""]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(machine.get("versions", {}).items()))
    if versions:
        lines += [versions + ".", ""]
    rows = results["rows"]
    commits = sorted({row["commit"] for row in rows if "commit" in row})
    if commits:
        lines += [f"Of {', '.join(commits)}.", ""]
    if any(row.get("loaded") for row in rows):
        lines += ["**Rows with * were measured while the machine was busy with other work: they are no results.**", ""]
    for title, chosen in (("Operators", [row for row in rows if not row["group"]]), ("Fused groups", [row for row in rows if row["group"]])):
        if chosen:
            lines += section(title, chosen)
    wrong = [(row["name"], who, text) for row in rows for who, text in row.get("errors", {}).items()]
    if wrong:
        lines += ["### Errors", ""] + [f"- `{name}`, {TITLES.get(who, who)}: {text}" for name, who, text in wrong] + [""]
    return "\n".join(lines)
