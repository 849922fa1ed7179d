#!/usr/bin/env python3
"""Tunes every operator of workloads/suite.yaml in one or more spaces and prints a table in Markdown.

Usage: bench/suite.py [--tunesmith BINARY] [--spaces cpu,cpu-paper] [--trials 16] [--only GMM,SFM] [--first]
                      [--results FILE.jsonl] [--table]

Results go to FILE.jsonl one by one; operators that it has already are not tuned again. --table only prints the table."""
import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def suite():
    """[(operator, workload)] in the order of the file, a mapping of lists of strings."""
    entries = []
    operator = None
    for line in (ROOT / "workloads/suite.yaml").read_text().splitlines():
        text = line.split("#")[0].strip()
        if text.endswith(":"):
            operator = text[:-1]
        elif text.startswith("- "):
            entries.append((operator, text[2:]))
    return entries


def tune(arguments, operator, workload, space):
    begin = time.monotonic()
    command = [arguments.tunesmith, "tune", workload, "--space", space, "--trials", str(arguments.trials), "--json", "--fresh",
               "--time-limit", str(arguments.time_limit), "--database", str(arguments.results) + ".db"]
    row = {"operator": operator, "workload": workload, "space": space}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20 * arguments.time_limit)
    except subprocess.TimeoutExpired:
        return row | {"error": f"not done after {20 * arguments.time_limit} s"}
    row["wall"] = time.monotonic() - begin
    if done.returncode not in (0, 3):
        return row | {"error": done.stderr.strip()[-300:]}
    result = json.loads(done.stdout)
    keys = ("trials", "valid", "failures", "best_seconds", "gflops", "share_of_peak", "baseline_seconds")
    return row | {key: result[key] for key in keys}


def time_text(seconds):
    if seconds is None:
        return "-"
    unit, scale = ("s", 1) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    return f"{seconds * scale:.3g} {unit}"


def table(rows, spaces):
    lines = ["| | workload | " + " | ".join(f"{space}: verified | best | share of peak | gain" for space in spaces) + " |",
             "|---|---|" + "---|---|---|---|" * len(spaces)]
    found = {(row["workload"], row["space"]): row for row in rows}
    for operator, workload in suite():
        cells = []
        for space in spaces:
            row = found.get((workload, space))
            if row is None:
                cells += ["not run", "", "", ""]
            elif "error" in row:
                cells += ["**error**", "", "", ""]
            else:
                best, baseline, share = row["best_seconds"], row["baseline_seconds"], row["share_of_peak"]
                share_text = "-" if share is None else f"{100 * share:.0f} %" if share >= 0.01 else "< 1 %"
                cells += [f"{row['valid']} of {row['trials']}", time_text(best), share_text,
                          f"{baseline / best:.1f}" if baseline and best else "-"]
        if any(cell != "not run" and cell for cell in cells):
            lines.append(f"| {operator} | `{workload}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tunesmith", default=str(ROOT / "build/release/bin/tunesmith"))
    parser.add_argument("--spaces", default="cpu,cpu-paper")
    parser.add_argument("--trials", type=int, default=16)
    parser.add_argument("--time-limit", type=int, default=60, help="seconds of search for one workload in one space")
    parser.add_argument("--only", default="", help="operators, separated by commas")
    parser.add_argument("--first", action="store_true", help="only the first shape of each operator")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("suite.jsonl"))
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    spaces = arguments.spaces.split(",")
    rows = []
    if arguments.results.exists():
        rows = [json.loads(line) for line in arguments.results.read_text().splitlines()]
    known = {(row["workload"], row["space"]) for row in rows}
    seen = set()
    for operator, workload in [] if arguments.table else suite():
        if arguments.only and operator not in arguments.only.split(","):
            continue
        if arguments.first and operator in seen:
            continue
        seen.add(operator)
        for space in spaces:
            if (workload, space) in known:
                continue
            row = tune(arguments, operator, workload, space)
            rows.append(row)
            with arguments.results.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{operator} {workload} {space}: {row.get('error') or str(row['valid']) + ' of ' + str(row['trials'])}"
                  f" in {row.get('wall', 0):.1f} s", file=sys.stderr, flush=True)
    print(table(rows, spaces))
    bad = [row for row in rows if "error" in row or row["valid"] != row["trials"]]
    for row in bad:
        print(f"not verified whole: {row}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
