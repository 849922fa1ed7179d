#!/usr/bin/env python3
"""How fast a task's first program is by the way of choosing it, from shards of measured programs. Usage: first_programs.py SHARD.jsonl...

tunesmith prior collect --tasks 0 --table TABLE --output SHARD.jsonl (and with --held-out) writes the shards. N of a task's programs are drawn with
equal probability. Three speeds are expected: of the draw with the best score by the cost model, and of the fastest draw when all are measured, both
computed exactly; and of the fastest among the four best scores, by 200 samples. Speeds are relative to the task's fastest program; printed are the
geometric mean over the tasks and the worst task."""
import json
import math
import random
import sys

DRAWS = (1, 8, 32, 128, 1000)
TRIED, SAMPLES = 4, 200  # how many candidates --untuned measures; samples of the simulation


def expected(values, draws):
    """The mean logarithm of the most preferred value among the draws, which are equally likely; `values` begins with the most preferred."""
    count = len(values)
    return sum((((count - i) / count) ** draws - ((count - i - 1) / count) ** draws) * math.log(value) for i, value in enumerate(values))


def fastest_of_best(values, draws, count):
    """The same for the fastest among the `count` most preferred draws."""
    chance = random.Random(draws)
    samples = (sorted({chance.randrange(len(values)) for _ in range(draws)})[:count] for _ in range(SAMPLES))
    return sum(math.log(max(values[i] for i in places)) for places in samples) / SAMPLES


def main():
    tasks = {}
    for file in sys.argv[1:]:
        with open(file) as lines:
            next(lines)
            for line in map(json.loads, lines):
                programs = [program for program in line["programs"] if program["seconds"] is not None]
                best = min(program["seconds"] for program in programs)
                speed = lambda program: best / program["seconds"]
                by_score = [speed(program) for program in sorted(programs, key=lambda program: -program["score"])]
                tasks[line["workload"], file] = (by_score, sorted(by_score, reverse=True))
    print(f"{len(tasks)} tasks, {sum(len(ways[0]) for ways in tasks.values())} programs\n{'draws':>6}  {'by the cost model':>18}  {'best 4 measured':>18}  {'all measured':>18}")
    for draws in DRAWS:
        figures = [(expected(by_score, draws), fastest_of_best(by_score, draws, TRIED), expected(by_speed, draws)) for by_score, by_speed in tasks.values()]
        columns = [f"{math.exp(sum(column) / len(column)):.3f} ({math.exp(min(column)):.3f})" for column in zip(*figures)]
        print(f"{draws:>6}  {columns[0]:>18}  {columns[1]:>18}  {columns[2]:>18}")


if __name__ == "__main__":
    main()
