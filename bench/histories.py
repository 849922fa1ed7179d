#!/usr/bin/env python3
"""Is what `build` ships ever slower than the fastest program on record? Histories of runs on one store: random workloads, budgets, seeds, spaces,
`--fresh`, and interruptions by SIGINT and SIGKILL. After each, the program that `build` ships is timed in turn with the fastest on record.

Usage: bench/histories.py [--build build/release] [--count N] [--seed N] [--database FILE] [--rivals N] [--rounds N] [--limit RATIO]
       [--workload W]...

Prints a line for each history: its runs, the workload, the ratio of the shipped program's time to the fastest rival's. A ratio above the limit is
measured twice more, with four times the rounds; the least counts, since disturbances only lengthen times.
Exit codes: 0 done; 1 a ratio was above the limit."""
import argparse
import json
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORKLOADS = ["gmm:n=48,m=48,k=48", "gmm:n=64,m=96,k=32", "softmax:m=64,n=64", "relu:n=64,m=64"]
SPACES = ["cpu", "cpu-paper", "cpu-tiling"]


class Histories:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, pathlib.Path(folder)
        self.database = arguments.database or self.folder / "records.db"
        self.random = random.Random(arguments.seed)

    def command(self, *words):
        return [str(self.arguments.build / "bin/tunesmith"), *map(str, words), "--database", str(self.database)]

    def json(self, *words):
        done = subprocess.run(self.command(*words, "--json"), capture_output=True, text=True, cwd=self.folder)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip() or done.stdout.strip()}")
        return json.loads(done.stdout)

    def tune(self, workload, space):
        """Starts one run and may interrupt it; returns its description."""
        several = self.random.random() < 0.15
        words = ["tune", workload, *([self.random.choice(WORKLOADS)] if several else []), "--space", space,
                 "--trials", self.random.choice([1, 2, 3, 5, 8, 16, 24]), "--seed", self.random.randrange(4), "--quiet"]
        if self.random.random() < 0.3:
            words.append("--fresh")
        if self.random.random() < 0.3:
            words += ["--batch", self.random.choice([2, 4, 8])]
        running = subprocess.Popen(self.command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        sent = None
        if self.random.random() < 0.35:
            try:
                running.wait(self.random.uniform(0.2, 6.0))
            except subprocess.TimeoutExpired:
                sent = self.random.choice([signal.SIGINT, signal.SIGKILL])
                running.send_signal(sent)
        error = running.communicate()[1]
        if running.returncode not in (0, 3, 130, -signal.SIGKILL, -signal.SIGINT):
            raise RuntimeError(f"{' '.join(map(str, words))} ended with {running.returncode}: {error}")
        return " ".join(map(str, words[3 if not several else 4:])) + (f" [{sent.name}]" if sent else "")

    def records(self):
        exported = subprocess.run(self.command("records", "export", "--quiet"), capture_output=True, text=True, cwd=self.folder, check=True).stdout
        return [line["record"] for line in map(json.loads, exported.splitlines()) if "record" in line]

    def shipped(self, workload, space):
        """The record that `build` ships; None where there is none yet."""
        try:
            built = self.json("build", workload, "--space", space, "--output", self.folder / "lib", "--quiet")
        except RuntimeError as error:
            if "no record" in str(error):
                return None
            raise
        return re.search(r"record ([^, ]+)", built["provenance"])[1]

    def rivals(self, shipped):
        """The fastest other programs of the shipped record's task; a program counts with the least time that any of its records has."""
        records = self.records()
        mine = next(record for record in records if record["id"] == shipped)
        task = lambda record: [record[key] for key in ("workload_hash", "target", "threads", "device")]
        least = {}
        for record in records:
            if task(record) == task(mine) and record["seconds"] and record["lowered_hash"] != mine["lowered_hash"]:
                known = least.get(record["lowered_hash"])
                if known is None or record["seconds"]["min"] < known["seconds"]["min"]:
                    least[record["lowered_hash"]] = record
        return [record["id"] for record in sorted(least.values(), key=lambda record: record["seconds"]["min"])[: self.arguments.rivals]]

    def ratio(self, workload, space, shipped, rivals, rounds):
        """The shipped program's time over that of the fastest rival that verifies, timed in turn."""
        compared = [word for rival in rivals for word in ("--compare", rival)]
        result = self.json("bench", workload, "--space", space, "--trace", shipped, *compared, "--rounds", rounds, "--quiet")
        entries = result["benchmarks"][0]["entries"]
        if "failure" in entries[0]:
            raise RuntimeError(f"what build ships does not verify: {entries[0]['failure']}")
        others = [entry["seconds"] for entry in entries[1:] if "failure" not in entry]
        return entries[0]["seconds"] / min(others) if others else None

    def one(self):
        workload, space = self.random.choice(self.arguments.workload or WORKLOADS), self.random.choice(SPACES)
        runs = [self.tune(workload, space) for _ in range(self.random.choice([1, 1, 2, 3]))]
        said = f"{workload} in {space}: {'; '.join(runs)}"
        shipped = self.shipped(workload, space)
        rivals = self.rivals(shipped) if shipped else []
        if not rivals:
            return said, None
        ratio = self.ratio(workload, space, shipped, rivals, self.arguments.rounds)
        for _ in range(2):
            if ratio is not None and ratio > self.arguments.limit:
                ratio = min(ratio, self.ratio(workload, space, shipped, rivals, 4 * self.arguments.rounds))
        return said, ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", type=pathlib.Path)
    parser.add_argument("--rivals", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--workload", action="append", help="instead of the usual ones")
    parser.add_argument("--limit", type=float, default=1.05)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        histories, ratios = Histories(arguments, folder), []
        for number in range(arguments.count):
            said, ratio = histories.one()
            print(f"{number:4} {'  none' if ratio is None else f'{ratio:6.3f}'}  {said}", flush=True)
            if ratio is not None:
                ratios.append(ratio)
    above = sum(ratio > arguments.limit for ratio in ratios)
    if ratios:
        print(f"{len(ratios)} of {arguments.count} compared: median {statistics.median(ratios):.3f}, largest {max(ratios):.3f}; {above} above {arguments.limit}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
