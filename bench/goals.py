#!/usr/bin/env python3
"""Tunes the operators whose speed is a goal and prints a table in Markdown: what was wanted, and what was measured.

Usage: bench/goals.py [--tunesmith BINARY] [--seed N] [--repeat N] [--only gmm]

Every share is of a figure measured beside it: of the peak of multiply-adds, in turn with the best program; of the
speed of copying, right before and right after. With --repeat each line is the median of so many seeds; the range follows it."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Workload, space, trials, least share, and the bytes it must read and write when it is bound by memory.
GOALS = [
    ("gmm:n=512,m=512,k=512", "cpu-tiling", 128, 0.75, None),
    ("gmm:n=1024,m=1024,k=1024", "cpu-tiling", 128, 0.65, None),
    ("conv2d:h=56,w=56,ci=64,co=64,kernel=1,padding=0", "cpu", 128, 0.65, None),
    ("conv2d:h=14,w=14,ci=256,co=256,kernel=3", "cpu", 128, 0.55, None),
    ("softmax:m=1024,n=1024", "cpu", 128, 0.50, 2 * 4 * 1024 * 1024),
    ("gmm:n=512,m=512,k=512", "cpu-tiling", 256, 0.75, None),
]


def run(tunesmith, *args):
    return json.loads(subprocess.run([tunesmith, *map(str, args), "--json"], check=True, capture_output=True, text=True).stdout)


def copy_speed(tunesmith):
    return run(tunesmith, "doctor")["copy_bytes_per_second"]


def measure(tunesmith, workload, space, trials, moved, seed):
    before = copy_speed(tunesmith) if moved else None
    with tempfile.TemporaryDirectory() as folder:
        result = run(tunesmith, "tune", workload, "--space", space, "--trials", trials, "--seed", seed,
                     "--database", pathlib.Path(folder) / "records.db")
    if moved:
        result["share"] = moved / result["best_seconds"] / max(before, copy_speed(tunesmith))
    else:
        result["share"] = result["share_of_peak"]
    seconds = result["seconds"]
    result["measuring"] = (seconds["build"] + seconds["measure"]) / result["wall_seconds"]
    return result


def spread(values, scale, digits=0):
    text = f"{scale * statistics.median(values):.{digits}f}"
    return text if len(values) == 1 else f"{text} ({scale * min(values):.{digits}f} to {scale * max(values):.{digits}f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tunesmith", default=str(ROOT / "build/release/bin/tunesmith"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of the workload's name")
    arguments = parser.parse_args()
    print("| workload | space | trials | goal, % | measured, % | best, µs | verified | wall, s | building and measuring, % |"
          " median compile, ms |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    short = False
    for workload, space, trials, goal, moved in GOALS:
        if arguments.only not in workload:
            continue
        runs = [measure(arguments.tunesmith, workload, space, trials, moved, arguments.seed + i) for i in range(arguments.repeat)]
        column = {key: [one[key] for one in runs]
                  for key in ("share", "best_seconds", "wall_seconds", "measuring", "median_compile_seconds")}
        verified = f"{sum(one['valid'] for one in runs)} of {sum(one['trials'] for one in runs)}"
        of = " of copying" if moved else ""
        short = short or statistics.median(column["share"]) < goal
        print(f"| `{workload}` | {space} | {trials} | {100 * goal:.0f}{of} | {spread(column['share'], 100)} |"
              f" {spread(column['best_seconds'], 1e6)} | {verified} | {spread(column['wall_seconds'], 1, 1)} |"
              f" {spread(column['measuring'], 100)} | {spread(column['median_compile_seconds'], 1e3, 1)} |", flush=True)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
