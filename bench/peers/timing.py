"""Contestants timed in turn: one sample of each in every round."""
import gc
import time

SAMPLE_SECONDS = 500e-6  # a sample is as many calls as take this long, and as many go before it, so that caches hold what they hold in a loop
PAUSE = 0.04             # idle threads of the contestant before have gone to sleep by then
LEAST_ROUNDS = 5


def seconds_of(call, calls):
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def calls_of(call):
    """How many calls make a sample, and how long one takes."""
    call()
    once = max(1e-7, min(seconds_of(call, 1) for _ in range(3)))
    return max(1, int(SAMPLE_SECONDS / once)), once


def in_turn(contestants, most_rounds, budget):
    """{name: samples} of {name: call}: as many rounds as `budget` seconds allow. Who begins changes from round to round."""
    plan = {name: calls_of(call) for name, call in contestants.items()}
    of_a_round = sum(PAUSE + 2 * calls * once for calls, once in plan.values())
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
                calls, _ = plan[name]
                seconds_of(contestants[name], calls)
                samples[name].append(seconds_of(contestants[name], calls))
    finally:
        gc.enable()
    return samples
