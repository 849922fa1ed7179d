#!/usr/bin/env python3
"""Repeats a run with several numbers of workers, which replay a recorded table and wait as long as each measurement took.
The programs and their order must be the same; what each number takes is printed.
Usage: many_workers.py TUNESMITH TABLE_WORKERS TABLE [--workers 1,3,8] [--trials N] [--batch N] [--times X] [WORKLOAD...]"""
import argparse
import pathlib
import re
import signal
import subprocess
import time

import fleet_bench

WORKLOADS = [f"gmm:n={n},m={m},k=64" for n in (64, 96) for m in (64, 128)]


class TableBench(fleet_bench.Bench):
    """A tuner, and one process with workers that replay a table."""

    def __init__(self, words, folder):
        super().__init__(words.tunesmith.resolve(), folder)
        self.words = words

    def start_workers(self, count):
        name = f"workers{count}"
        log = open(self.folder / f"{name}.log", "wb")
        process = subprocess.Popen([self.words.table_workers.resolve(), self.words.table.resolve(), str(count), str(self.words.times)], env=self.environment, stdout=log, stderr=log)
        self.workers.append(process)
        self.await_text(name, r"identity \w{16}")
        return process, re.search(r"identity (\w{16})", self.text(name))[1]

    def run(self, count):
        """Returns the seconds, and each task's programs in order."""
        process, identity = self.start_workers(count)
        (self.folder / "table.yaml").write_text(f"version: 1\nspaces:\n  table:\n    extends: cpu\n    runner: {{kind: amqp, identity: {identity}}}\n")
        name, begin = f"tune{count}", time.monotonic()
        tuner = self.start("tune", *self.words.workloads, "--spaces", "table.yaml", "--space", "table", "--search", self.words.search, "--seed", "5", "--batch", self.words.batch,
                           "--trials", self.words.trials, "--database", f"{name}.db", name=name)
        self.finish(tuner, name, 3000)
        seconds = time.monotonic() - begin
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, self.text(f"workers{count}")
        assert "INTERNAL_ERROR" not in self.text(f"workers{count}"), "the broker failed:\n" + self.text(f"workers{count}")
        tasks = {}
        for record in self.records(name):
            if record["kind"] == "search":
                tasks.setdefault(record["workload"], []).append((record["candidate"], record["lowered_hash"]))
        return seconds, {workload: [program for _, program in sorted(programs)] for workload, programs in tasks.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tunesmith", type=pathlib.Path)
    parser.add_argument("table_workers", type=pathlib.Path)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("workloads", nargs="*", default=WORKLOADS)
    parser.add_argument("--workers", default="1,3,8")
    parser.add_argument("--trials", type=int, default=128)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--times", type=float, default=1.0)
    parser.add_argument("--search", default="evolutionary")
    words = parser.parse_intermixed_args()
    with fleet_bench.running(lambda folder: TableBench(words, folder)) as bench:
        first = None
        for count in map(int, words.workers.split(",")):
            seconds, programs = bench.run(count)
            first = first or (seconds, programs)
            assert programs == first[1], f"{count} workers: other programs, or another order"
            assert sum(map(len, programs.values())) == words.trials and len(programs) == len(words.workloads), programs
            print(f"{count} workers: {seconds:.2f} s, {first[0] / seconds:.2f} times the first", flush=True)


if __name__ == "__main__":
    main()
