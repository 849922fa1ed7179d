"""Estimates of a time and of a ratio of two, with the interval that the samples leave.

A time is the 10th percentile of its samples, as everywhere in Tunesmith: it is as steady as the minimum, and a sample that was too
short by chance does not decide it. Means and medians follow what else the machine does. Intervals are of 95 %, by the bootstrap: what
the estimate would be of rounds drawn anew; rounds are drawn whole, so that a ratio keeps what both sides had in common."""
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
    """[low, high] of estimate(indices of rounds)."""
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
