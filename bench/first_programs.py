#!/usr/bin/env python3
"""How fast a task's first program is, by how it is chosen: on shards of measured programs. Usage: first_programs.py SHARD.jsonl...

tunesmith prior collect --tasks 0 --table TABLE --output SHARD.jsonl (and with --held-out) writes them. Of each task's programs, which are taken
to be equally likely draws, it computes exactly what to expect of the best of N draws by the cost model's score, none of them measured, and of the
fastest of N draws, all of them measured; and by 200 samples what the fastest of the best four of N draws is. Speeds are relative to the fastest program of the task; over the tasks the geometric mean, and the worst."""
import json
import math
import random
import sys

DRAWS = (1, 8, 32, 128, 1000)
TRIED, SAMPLES = 4, 200  # of --untuned


def expected(values, draws):
    """The mean logarithm of the first value that is met, where the draws are of equal probability and the list is in the order of preference."""
    count = len(values)
    return sum((((count - i) / count) ** draws - ((count - i - 1) / count) ** draws) * math.log(value) for i, value in enumerate(values))


def fastest_of_best(values, draws, count):
    """The same of the fastest among the `count` that are preferred."""
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
