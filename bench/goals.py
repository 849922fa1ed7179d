#!/usr/bin/env python3
"""Tunes the operators whose speed is a goal and prints a table in Markdown: what was wanted, and what was measured.

Usage: bench/goals.py [--build build/release] [--seed N] [--repeat N] [--only gmm]

Every share is of a figure measured beside it: of the peak of multiply-adds, in turn with the best program; of the
speed of copying the same bytes, in one process. With --repeat each line is the median of so many seeds; the range follows it."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Workload, space, trials, least share, and whether that is of the speed of copying.
GOALS = [
    ("gmm:n=512,m=512,k=512", "cpu-tiling", 128, 0.75, False),
    ("gmm:n=1024,m=1024,k=1024", "cpu-tiling", 128, 0.65, False),
    ("conv2d:h=56,w=56,ci=64,co=64,kernel=1,padding=0", "cpu", 128, 0.65, False),
    ("conv2d:h=14,w=14,ci=256,co=256,kernel=3", "cpu", 128, 0.55, False),
    ("softmax:m=1024,n=1024", "cpu", 128, 0.50, True),
    ("gmm:n=512,m=512,k=512", "cpu-tiling", 256, 0.75, False),
]


def run(program, *args):
    return json.loads(subprocess.run([program, *map(str, args)], check=True, capture_output=True, text=True).stdout)


def share_of_copying(build, workload, trace, database, folder):
    """How fast the program is beside a copy of the same bytes, in turn with it."""
    subprocess.run([build / "bin/tunesmith", "build", workload, "--trace", trace, "--database", database, "--output", folder, "--name", "kernel"],
                   check=True, stdout=subprocess.DEVNULL)
    seconds = run(build / "bin/bench_libraries", workload, folder / "libkernel.so", "kernel", 40)["seconds"]
    return seconds["copy"] / seconds["tunesmith"]


def measure(build, workload, space, trials, bound_by_memory, seed):
    with tempfile.TemporaryDirectory() as name:
        database = pathlib.Path(name) / "records.db"
        result = run(build / "bin/tunesmith", "tune", workload, "--space", space, "--trials", trials, "--seed", seed,
                     "--database", database, "--json")
        result["share"] = result["gflops"] / result["peak_beside_gflops"]
        if bound_by_memory:
            result["share"] = share_of_copying(build, workload, result["trace"], database, pathlib.Path(name))
    seconds = result["seconds"]
    result["measuring"] = (seconds["build"] + seconds["measure"]) / result["wall_seconds"]
    return result


def spread(values, scale, digits=0):
    text = f"{scale * statistics.median(values):.{digits}f}"
    return text if len(values) == 1 else f"{text} ({scale * min(values):.{digits}f} to {scale * max(values):.{digits}f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of the workload's name")
    arguments = parser.parse_args()
    print("| workload | space | trials | goal, % | measured, % | best, µs | verified | wall, s | building and measuring, % |"
          " median compile, ms |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    short = False
    for workload, space, trials, goal, bound_by_memory in GOALS:
        if arguments.only not in workload:
            continue
        runs = [measure(arguments.build, workload, space, trials, bound_by_memory, arguments.seed + i) for i in range(arguments.repeat)]
        column = {key: [one[key] for one in runs]
                  for key in ("share", "best_seconds", "wall_seconds", "measuring", "median_compile_seconds")}
        verified = f"{sum(one['valid'] for one in runs)} of {sum(one['trials'] for one in runs)}"
        of = " of copying" if bound_by_memory else ""
        short = short or statistics.median(column["share"]) < goal
        print(f"| `{workload}` | {space} | {trials} | {100 * goal:.0f}{of} | {spread(column['share'], 100)} |"
              f" {spread(column['best_seconds'], 1e6)} | {verified} | {spread(column['wall_seconds'], 1, 1)} |"
              f" {spread(column['measuring'], 100)} | {spread(column['median_compile_seconds'], 1e3, 1)} |", flush=True)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
