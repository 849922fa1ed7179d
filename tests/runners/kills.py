#!/usr/bin/env python3
"""Randomly kills workers, tuner and broker: the records must be those of an uninterrupted run, each once.
Usage: kills.py TUNESMITH [--trials N] [--kills N] [--workers N] [--seed N]"""
import argparse
import pathlib
import random
import re
import signal
import time

import broker
import fleet_test


class Killed(fleet_test.Bench):
    def __init__(self, words, folder):
        super().__init__(words.tunesmith.resolve(), folder)
        self.words, self.random = words, random.Random(words.seed)
        self.counts = {"worker": 0, "tuner": 0, "broker": 0}

    def start_worker(self, number):
        name = f"worker{number}"
        return self.start("serve", "--threads", 1, "--database", f"{name}.db", "--quiet", name=name)

    def run(self):
        """Runs until the tuner has ended by itself."""
        workers = [self.start_worker(number) for number in range(self.words.workers)]
        tuner = self.tune("amqp", self.words.trials)
        left, lately = self.words.kills, time.monotonic()
        while (code := tuner.poll()) != 0:
            time.sleep(0.1)
            if code is not None:  # it started while the broker or all workers were down
                assert code == 4 and re.search("does not answer|nobody at", self.text("tune_amqp")[-600:]), self.text("tune_amqp")[-4000:]
                tuner = self.tune("amqp", self.words.trials)
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
                tuner = self.tune("amqp", self.words.trials)
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
        self.workers += workers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tunesmith", type=pathlib.Path)
    parser.add_argument("--trials", type=int, default=96)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, nargs=2, default=[1.0, 5.0], help="seconds between two kills")
    words = parser.parse_args()
    with fleet_test.running(lambda folder: Killed(words, folder)) as bench:
        wanted = bench.local(words.trials)
        bench.run()
        found = bench.searched("tune_amqp")
        assert found == wanted, f"{len(found)} records, {len(set(found) ^ set(wanted))} of them others"
        print(f"{len(found)} records, {bench.counts} killed")


if __name__ == "__main__":
    main()
