"""Estimates of times and of ratios of two times, with confidence intervals.

A time is the 10th percentile of its samples, as everywhere in Tunesmith: it is as steady as the minimum, but one sample that is too short
by chance does not decide it; other load on the machine shifts means and medians. Intervals are 95 % by the bootstrap. It draws whole
rounds, because both sides of a ratio suffer the same disturbances in a round."""
import math
import random

QUANTILE = 0.1
DRAWS = 400


def quantile(samples, q=QUANTILE):
    ordered = sorted(samples)
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def bootstrap(estimate, rounds, seed=0):
    """The interval [low, high]; `estimate` takes indices of rounds."""
    chance = random.Random(seed)
    drawn = sorted(estimate([chance.randrange(rounds) for _ in range(rounds)]) for _ in range(DRAWS))
    return [drawn[int(0.025 * DRAWS)], drawn[math.ceil(0.975 * DRAWS) - 1]]


def time_of(samples):
    return {"value": quantile(samples), "interval": bootstrap(lambda chosen: quantile([samples[i] for i in chosen]), len(samples)),
            "rounds": len(samples)}


def ratio_of(theirs, ours):
    """Their time over ours: more than 1 where ours is faster."""
    def ratio(chosen):
        return quantile([theirs[i] for i in chosen]) / quantile([ours[i] for i in chosen])
    return {"value": ratio(range(len(ours))), "interval": bootstrap(ratio, len(ours))}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))
