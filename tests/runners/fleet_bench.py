"""A broker, workers and a tuner in a temporary folder, for the tests of runs on many machines."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import broker

TRIALS = 16
SEARCH = ["gmm:n=64,m=64,k=64", "--search", "random", "--seed", "5", "--batch", "8", "--threads", "1"]


class Bench:
    """The base of all cases: a broker, and a temporary folder."""

    def __init__(self, tunesmith, folder, tls=False):
        self.tunesmith, self.folder = str(tunesmith), pathlib.Path(folder)
        self.broker = broker.Broker(folder, tls)
        self.environment = {**os.environ, "TUNESMITH_BROKER": self.broker.url, "TUNESMITH_MACHINE_LOCK": str(self.folder / "lock"), "XDG_DATA_HOME": str(self.folder)}
        self.workers = []

    def start(self, *words, name, limit=lambda: None):
        log = open(self.folder / f"{name}.log", "ab")
        return subprocess.Popen([self.tunesmith, *map(str, words)], env=self.environment, stdout=log, stderr=log, cwd=self.folder, preexec_fn=limit)

    def text(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def await_text(self, name, pattern, seconds=240):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if re.search(pattern, self.text(name)):
                return
            time.sleep(0.1)
        raise AssertionError(f"{name} never said {pattern}:\n{self.text(name)[-3000:]}")

    def worker(self, number, *more, **how):
        name = f"worker{number}"
        process = self.start("serve", "--threads", 1, "--database", f"{name}.db", *more, name=name, **how)
        self.workers.append(process)
        self.await_text(name, "takes jobs from")
        return process

    def tune(self, runner, trials=TRIALS, name=None, search=SEARCH):
        name = name or f"tune_{runner}"
        return self.start("tune", *search, "--trials", trials, "--runner", runner, "--database", f"{name}.db", name=name)

    def finish(self, process, name, seconds=500, code=0):
        assert process.wait(seconds) == code, self.text(name)[-4000:]

    def records(self, name):
        done = subprocess.run([self.tunesmith, "records", "export", "--database", f"{name}.db"], env=self.environment, capture_output=True, text=True, cwd=self.folder, check=True)
        return [line["record"] for line in map(json.loads, done.stdout.splitlines()) if "record" in line]

    def searched(self, name):
        """The programs of the search, by workload and in their order, each once; without jobs of which three workers were killed."""
        found = [record for record in self.records(name) if record["kind"] == "search" and record["cause"] != "worker_lost"]
        hashes = [record["lowered_hash"] for record in sorted(found, key=lambda record: (record["workload"], record["candidate"]))]
        assert len(set(hashes)) == len(hashes), "a program is on record twice"
        return hashes

    def local(self, trials=TRIALS, search=SEARCH):
        process = self.tune("local", trials, search=search)
        self.finish(process, "tune_local")
        return self.searched("tune_local")

    def close(self):
        for process in self.workers:
            if process.poll() is None:
                process.kill()
                process.wait(60)
        self.broker.close()


@contextlib.contextmanager
def running(make):
    """Runs `make`'s bench in a new folder. If something fails, prints its logs."""
    if lacking := broker.missing():
        print(f"skipped: {lacking}")
        sys.exit(broker.SKIPPED)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that its processes are ended in any case
    with tempfile.TemporaryDirectory(prefix="tunesmith-fleet-") as folder:
        bench = make(folder)
        try:
            yield bench
        except BaseException:
            for log in sorted(bench.folder.glob("*.log")):
                print(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}")
            raise
        finally:
            bench.close()
