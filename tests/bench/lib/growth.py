"""growth: instructions a record, compared with what they were. No measuring here: profiles in, sentences out.

A profile is a dict from the names of functions to instructions. What is kept of one, its figures, is
{"total": T, "functions": {NAME: T}}, a record each, with the functions that have a share of KEPT or more."""
import collections

LIMIT = 0.03   # more than this is a failure
KEPT = 0.005
NAMED = 5      # that many functions are named when there is one

Change = collections.namedtuple("Change", "name was now")  # was: the most it can have been, if known is False


def a_record(small, large, records):
    """The profile of one record: of two runs that differ by that many records. What a program does once is in both."""
    if records <= 0:
        raise ValueError("the larger run must have more records")
    return {name: (large.get(name, 0) - small.get(name, 0)) / records for name in {*small, *large}}


def figures(profile):
    """What is kept of a profile."""
    total = sum(profile.values())
    kept = sorted(((count, name) for name, count in profile.items() if count >= KEPT * total), reverse=True)
    return {"total": round(total, 1), "functions": {name: round(count, 1) for count, name in kept}}


def ratio(was, now):
    return now["total"] / was["total"]


def grown(was, now):
    return ratio(was, now) > 1 + LIMIT


def culprits(was, now):
    """The functions that grew most, worst first, and those that lost much: a function that was renamed is in both
    lists. One that was too small to be kept counts as if it had been as large as that allows."""
    small = KEPT * was["total"]
    changes = [Change(name, was["functions"].get(name, small), count) for name, count in now["functions"].items()]
    changes += [Change(name, count, 0) for name, count in was["functions"].items() if name not in now["functions"]]
    more = sorted((each for each in changes if each.now > each.was), key=lambda each: each.was - each.now)
    less = sorted((each for each in changes if each.was - each.now > 2 * small), key=lambda each: each.now - each.was)
    return more[:NAMED], less[:NAMED]


def complaint(title, was, now):
    """Lines that say what grew."""
    lines = ["%s: %.1f instructions a record, %.1f %% more than the %.1f that are committed" % (
        title, now["total"], (ratio(was, now) - 1) * 100, was["total"])]
    more, less = culprits(was, now)
    for each in more:
        before = "%.1f" % each.was if each.name in was["functions"] else "at most %.1f" % each.was
        lines.append("  %-40s %s -> %.1f" % (each.name, before, each.now))
    for each in less:
        after = "%.1f" % each.now if each.name in now["functions"] else "next to nothing"
        lines.append("  %-40s %.1f -> %s, which is less" % (each.name, each.was, after))
    if not more:
        lines.append("  by many functions, each of them a little")
    return lines


def judge(committed, measured):
    """Complaints (each a list of lines) about what was measured, and remarks. Both arguments: titles to figures."""
    complaints, remarks = [], []
    for title, now in measured.items():
        was = committed.get(title)
        if not was:
            remarks.append("%s is not compared: no figures are committed" % title)
        elif grown(was, now):
            complaints.append(complaint(title, was, now))
        elif ratio(was, now) < 1 - LIMIT:
            remarks.append("%s: %.1f %% less than committed; write the figures, so that it stays so" % (
                title, (1 - ratio(was, now)) * 100))
    complaints += [["%s was not measured, but has figures: write them anew" % title]
                   for title in committed if title not in measured]
    return complaints, remarks
