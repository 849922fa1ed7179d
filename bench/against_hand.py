#!/usr/bin/env python3
"""Compares searches with traces written by hand: tunes the workload of each trace of sdk/examples/traces, times the best programs beside the trace.

Usage: bench/against_hand.py [--build build/release] [--only gmm_512,..] [--trials N] [--seeds N] [--threads N] [--rounds N] [--spaces FILE] [--space NAME]

Prints a table in Markdown: the speed of the search's program over that of the trace (more than 1: the search's is faster), the median over the seeds
and each seed's; the times of the median seed and of the trace, with their shares of the machine's peak; and how long a search took. Traces that need
an instruction that the machine lacks are left out with a note.
Exit codes: 0 done; 1 a trace could not be measured."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from peaks import said, time_text, workload_of

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(arguments, *words):
    options = ["--spaces", arguments.spaces] if arguments.spaces else []
    command = [arguments.build / "bin/tunesmith", *map(str, words), "--space", arguments.space, "--threads", str(arguments.threads), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"tunesmith {words[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return json.loads(done.stdout)


def lacks(trace):
    """The instruction that the trace needs and this machine lacks, or None."""
    needs = said(trace, "needs")
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    return needs if needs and needs not in flags else None


def measure(arguments, trace):
    """For each seed: (seconds of the search, the entry of its program, timed beside the trace)."""
    workload, found = workload_of(trace), []
    for seed in range(arguments.seeds):
        with tempfile.TemporaryDirectory() as folder:
            database = pathlib.Path(folder) / "records.db"
            tuned = run(arguments, "tune", workload, "--trials", arguments.trials, "--seed", seed, "--database", database)
            compared = run(arguments, "bench", workload, "--database", database, "--compare", trace, "--rounds", arguments.rounds)
        entries = compared["benchmarks"][0]["entries"]
        for entry in entries:
            if "failure" in entry:
                raise RuntimeError(f"{entry['name']}: {entry['failure']}")
        found.append((tuned["wall_seconds"], *entries))
    return found


def row(name, found):
    found = sorted(found, key=lambda one: one[2]["seconds"] / one[1]["seconds"])
    ratios = [hand["seconds"] / own["seconds"] for _, own, hand in found]
    _, own, hand = found[len(found) // 2]
    times = [f"{time_text(entry['seconds'])}, {100 * entry['share_of_peak']:.0f} %" for entry in (own, hand)]
    wall = statistics.median(seconds for seconds, _, _ in found)
    return f"| `{name}` | **{statistics.median(ratios):.2f}** | {', '.join(f'{ratio:.2f}' for ratio in ratios)} | {times[0]} | {times[1]} | {wall:.0f} s |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--only", default="")
    parser.add_argument("--trials", type=int, default=128)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--spaces", help="a spaces file (default: the built-in one)")
    parser.add_argument("--space", default="cpu")
    arguments = parser.parse_args()
    traces = {trace.stem: trace for trace in sorted((ROOT / "sdk/examples/traces").glob("*.trace"))}
    chosen = arguments.only.split(",") if arguments.only else list(traces)
    if unknown := [name for name in chosen if name not in traces]:
        parser.error(f"there is no trace '{unknown[0]}'; there are {', '.join(traces)}")
    print("| trace | search over hand | each seed | the search's, of the peak | by hand, of the peak | a search |")
    print("|---" * 6 + "|", flush=True)
    right = True
    for trace in map(traces.get, chosen):
        if missing := lacks(trace):
            print(f"{trace.stem} is left out: this machine lacks {missing}", file=sys.stderr)
            continue
        try:
            print(row(trace.stem, measure(arguments, trace)), flush=True)
        except RuntimeError as reason:
            print(f"{trace.stem}: {reason}", file=sys.stderr)
            right = False
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
