"""Contestants timed in turn: one sample of each in every round."""
import gc
import time

SAMPLE_SECONDS = 500e-6  # a sample is as many calls as take this long
WARM_UP_SECONDS = 0.01   # before a sample: after a pause a virtual processor and its caches need milliseconds to be as in a loop
PAUSE = 0.04             # by then idle threads of the previous contestant sleep
LEAST_ROUNDS = 5


def seconds_of(call, calls):
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def calls_of(call):
    """How many calls warm up, how many make a sample, and how long one takes."""
    call()
    once = max(1e-7, min(seconds_of(call, 1) for _ in range(3)))
    return max(1, int(WARM_UP_SECONDS / once)), max(1, int(SAMPLE_SECONDS / once)), once


def in_turn(contestants, most_rounds, budget):
    """{name: samples} of {name: call}, for as many rounds as `budget` seconds allow. Each round begins with another contestant."""
    plan = {name: calls_of(call) for name, call in contestants.items()}
    of_a_round = sum(PAUSE + (warm_up + calls) * once for warm_up, calls, once in plan.values())
    rounds = max(LEAST_ROUNDS, min(most_rounds, int(budget / of_a_round)))
    samples = {name: [] for name in contestants}
    names = list(contestants)
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds):
            start = number % len(names)
            for name in names[start:] + names[:start]:
                time.sleep(PAUSE)
                warm_up, calls, _ = plan[name]
                seconds_of(contestants[name], warm_up)
                samples[name].append(seconds_of(contestants[name], calls))
    finally:
        gc.enable()
    return samples
