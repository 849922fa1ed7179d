#!/usr/bin/env python3
"""Random kills of workers, tuner and broker: the records are those of a run that nobody killed, each once.
Usage: kills.py TUNESMITH [WORKLOAD...] [--trials N] [--kills N] [--workers N] [--seed N] [--replay TABLE_WORKERS TABLE TIMES]
With --replay, workers look programs up in a recorded table and wait TIMES as long as each measurement took."""
import argparse
import pathlib
import random
import re
import signal
import subprocess
import time

import fleet_bench


class Killed(fleet_bench.Bench):
    def __init__(self, words, folder):
        super().__init__(words.tunesmith.resolve(), folder)
        self.words, self.random = words, random.Random(words.seed)
        self.counts = {"worker": 0, "tuner": 0, "broker": 0}
        self.search = [*words.workloads, "--scheduler", "round_robin", *fleet_bench.SEARCH[1:]]

    def start_worker(self, number, times=None):
        name = f"worker{number}"
        if not self.words.replay:
            return self.start("serve", "--threads", 1, "--database", f"{name}.db", "--quiet", name=name)
        table_workers, table, usual = self.words.replay
        log = open(self.folder / f"{name}.log", "ab")
        return subprocess.Popen([table_workers, table, "1", str(times or usual)], env=self.environment, stdout=log, stderr=log)

    def start_tuner(self, name="tune_amqp"):
        return self.tune("amqp", self.words.trials, name, self.search)

    def undisturbed(self):
        """The programs of a run that nobody kills: on this machine, or with a worker that does not wait."""
        if not self.words.replay:
            return self.local(self.words.trials, self.search)
        worker = self.start_worker("_in_peace", 1e-9)
        self.workers.append(worker)
        self.await_text("worker_in_peace", r"identity \w{16}")
        identity = re.search(r"identity (\w{16})", self.text("worker_in_peace"))[1]
        (self.folder / "table.yaml").write_text(f"version: 1\nspaces:\n  table:\n    extends: cpu\n    runner: {{kind: amqp, identity: {identity}}}\n")
        self.search = [*self.search[:-2], "--spaces", "table.yaml", "--space", "table"]
        self.finish(self.start_tuner("in_peace"), "in_peace", 3000)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0, self.text("worker_in_peace")
        return self.searched("in_peace")

    def run(self):
        """Until the tuner has ended by itself."""
        workers = self.workers = [self.start_worker(number) for number in range(self.words.workers)]
        tuner = self.start_tuner()
        left, lately = self.words.kills, time.monotonic()
        while (code := tuner.poll()) != 0:
            time.sleep(0.1)
            if code is not None:  # it started while the broker or all workers were down
                assert code == 4 and re.search("does not respond|nobody at", self.text("tune_amqp")[-600:]), self.text("tune_amqp")[-4000:]
                tuner = self.start_tuner()
            if left == 0 or time.monotonic() < lately:
                continue
            victim = self.random.choices(["worker", "tuner", "broker"], [12, 4, 1])[0]
            if victim == "worker":
                number = self.random.randrange(len(workers))
                workers[number].kill()
                workers[number].wait(60)
                workers[number] = self.start_worker(number)
            elif victim == "tuner":
                tuner.kill()
                tuner.wait(60)
                tuner = self.start_tuner()
            else:
                self.broker.stop(signal.SIGKILL)
                self.broker.start()
            self.counts[victim] += 1
            left -= 1
            lately = time.monotonic() + self.random.uniform(*self.words.every)
            for number, worker in enumerate(workers):
                if worker.poll() is not None:  # it started while the broker was down
                    assert worker.poll() == 4, self.text(f"worker{number}")[-3000:]
                    workers[number] = self.start_worker(number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tunesmith", type=pathlib.Path)
    parser.add_argument("workloads", nargs="*", default=fleet_bench.SEARCH[:1])
    parser.add_argument("--trials", type=int, default=96)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, nargs=2, default=[1.0, 5.0], help="seconds between two kills")
    parser.add_argument("--replay", nargs=3, metavar=("TABLE_WORKERS", "TABLE", "TIMES"))
    words = parser.parse_intermixed_args()
    with fleet_bench.running(lambda folder: Killed(words, folder)) as bench:
        wanted = bench.undisturbed()
        bench.run()
        found = bench.searched("tune_amqp")
        # What three workers were killed with is measured by the next run of the tuner, hence later.
        assert sorted(found) == sorted(wanted), f"{len(found)} records, {len(set(found) ^ set(wanted))} of them others"
        print(f"{len(found)} records, {bench.counts} killed")


if __name__ == "__main__":
    main()
