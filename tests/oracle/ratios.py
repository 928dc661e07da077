"""How many times as long one side takes as the other, by rounds, with 95 % intervals: written from the definitions, with
exact fractions where C has doubles, and shared with nothing of tipple.

    in_turns(of, to)    Wilcoxon's signed ranks of the pairs' differences of logarithms
    of_runs(of, to)     the difference of means of logarithms; scatter by the first cosines of each run
"""
import fractions
import itertools
import math
import statistics


def in_turns(of, to):
    """(ratio, low, high)"""
    differences = [math.log(one / other) for one, other in zip(of, to)]
    pairs = sorted((one + other) / 2 for one, other in itertools.combinations_with_replacement(differences, 2))
    ways = [1]  # of each sum of positive ranks
    for rank in range(1, len(differences) + 1):
        longer = ways + [0] * rank
        ways = [count + (ways[total - rank] if rank <= total < rank + len(ways) else 0) for total, count in enumerate(longer)]
    side, outside = fractions.Fraction(25, 1000) * 2 ** len(differences), 0
    while side >= ways[outside]:
        side -= ways[outside]
        outside += 1
    part = float(side / ways[outside])
    low = pairs[outside - 1] * (1 - part) + pairs[outside] * part
    high = pairs[-outside] * (1 - part) + pairs[-outside - 1] * part
    return tuple(math.exp(value) for value in (statistics.median(pairs), low, high))


def of_runs(of, to):
    """(ratio, low, high)"""
    logs = [[math.log(value) for value in side] for side in (of, to)]
    waves = 1 if min(map(len, logs)) < 10 else 2
    scatter = statistics.fmean(2 / len(side) * sum(math.cos(math.pi * wave * (at + 0.5) / len(side)) * value
                                                   for at, value in enumerate(side)) ** 2
                               for side in logs for wave in range(1, waves + 1))
    half = (5.0, 3.1)[waves - 1] * math.sqrt(scatter * sum(1 / len(side) for side in logs))
    middle = statistics.fmean(logs[0]) - statistics.fmean(logs[1])
    return tuple(math.exp(value) for value in (middle, middle - half, middle + half))
