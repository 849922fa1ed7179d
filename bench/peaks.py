#!/usr/bin/env python3
"""Builds the traces of sdk/examples/traces and times the libraries beside the machine's peak, OpenBLAS and oneDNN in one process.

Usage: bench/peaks.py [--build build/release] [--only gmm_512,..] [--threads 1,2] [--rounds N] [--repeat N] [--prefix "COMMAND"]

Prints a table in Markdown: the 10th percentile of the rounds' times; its shares of the peak of multiply-adds of the inputs' type, and of the speed of
a register tile of 6 x 64 whose operands stay in the first cache; and how many times as long every other contestant takes. With --repeat these are
medians over that many processes. If a trace uses dot products of vectors, oneDNN runs without AMX, so that both use the same instructions."""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OTHERS = ["OpenBLAS", "oneDNN", "oneDNN, packed weights", "copy"]


def said(trace, key):
    """The value of a line "# key: value" of the trace, or None."""
    for line in trace.read_text().splitlines():
        if line.startswith(f"# {key}: "):
            return line.split(": ", 1)[1]
    return None


def workload_of(trace):
    """The workload's argument for the command line: a name, or a file of the repository."""
    workload = said(trace, "workload")
    return str(ROOT / workload) if workload.endswith(".yaml") else workload


def measure(arguments, trace, threads):
    workload = workload_of(trace)
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    if said(trace, "needs"):
        environment["ONEDNN_MAX_CPU_ISA"] = "AVX512_CORE_BF16"
    processors = ",".join(map(str, sorted(os.sched_getaffinity(0))[:threads]))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([arguments.build / "bin/tunesmith", "build", workload, "--trace", trace, "--output", folder, "--name", "kernel", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        command = [*shlex.split(arguments.prefix), "taskset", "-c", processors, arguments.build / "bin/bench_libraries", workload,
                   pathlib.Path(folder) / "libkernel.so", "kernel", str(arguments.rounds)]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def time_text(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def row(name, results):
    """Medians over the processes."""
    own = [result["seconds"]["tunesmith"] for result in results]
    share = statistics.median(result["flops"] / mine / (result["peak_operations"] / result["seconds"]["peak"])
                              for result, mine in zip(results, own))
    tiles = [result["seconds"]["tile"] / mine for result, mine in zip(results, own) if "tile" in result["seconds"]]
    cells = [f"{100 * statistics.median(tiles):.0f} %" if tiles else ""]
    for other in OTHERS:
        ratios = [result["seconds"][other] / mine for result, mine in zip(results, own) if other in result["seconds"]]
        cells.append(f"{statistics.median(ratios):.2f}" if ratios else "")
    return f"| `{name}` | {results[0]['threads']} | {time_text(statistics.median(own))} | {100 * share:.0f} % | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=1, help="processes of which the medians are printed")
    parser.add_argument("--prefix", default="", help="put before each measurement, to wait for a quiet machine")
    arguments = parser.parse_args()
    print("| trace | threads | time | of peak | of a tile in the first cache | " + " | ".join(f"{other}, times as long" for other in OTHERS) + " |")
    print("|---|---|---|---|---|" + "---|" * len(OTHERS))
    for trace in sorted((ROOT / "sdk/examples/traces").glob("*.trace")):
        if arguments.only and trace.stem not in arguments.only.split(","):
            continue
        for threads in map(int, arguments.threads.split(",")):
            print(row(trace.stem, [measure(arguments, trace, threads) for _ in range(arguments.repeat)]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
