#!/usr/bin/env python3
"""One trace of sdk/examples/traces: it is legal, its program gives the right results, and it builds. Exit code 77 (skipped) where the processor lacks
what the trace says it needs."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile


def said(trace, key):
    for line in trace.read_text().splitlines():
        if line.startswith(f"# {key}: "):
            return line.split(": ", 1)[1]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tunesmith", required=True)
    parser.add_argument("trace", type=pathlib.Path)
    arguments = parser.parse_args()
    needed = said(arguments.trace, "needs")
    flags = next(line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")).split()
    if needed and needed not in flags:
        print(f"skipped: the processor has no {needed}")
        return 77
    workload = said(arguments.trace, "workload")
    if workload.endswith(".yaml"):
        workload = pathlib.Path(__file__).parents[2] / workload
    with tempfile.TemporaryDirectory() as folder:
        bench = subprocess.run([arguments.tunesmith, "bench", workload, "--trace", arguments.trace, "--rounds", "1", "--quiet", "--json", "--candidate-time-out", "60",
                                "--database", pathlib.Path(folder) / "records.db"], capture_output=True, text=True)
        print(bench.stdout, bench.stderr)
        if bench.returncode != 0:
            return 1
        entries = json.loads(bench.stdout)["benchmarks"][0]["entries"]
        if len(entries) != 1 or "verified_error" not in entries[0]:
            print("not verified")
            return 1
        build = subprocess.run([arguments.tunesmith, "build", workload, "--trace", arguments.trace, "--output", folder, "--name", "kernel", "--quiet"],
                               capture_output=True, text=True)
        print(build.stdout, build.stderr)
        return 0 if build.returncode == 0 and (pathlib.Path(folder) / "libkernel.so").exists() else 1


if __name__ == "__main__":
    sys.exit(main())
