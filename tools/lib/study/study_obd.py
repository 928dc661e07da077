"""Car sensors, 2015: min, max, sum and count of one field over the first 10^0 to 10^6 documents, in many ways."""
import os

from meter import costs_table
from minimongo import Code
from workplace import collection, count, say

MAP = ("function() { var item = this.engineRevolutionsPerMinute;"
       " emit(0, {sum: item, min: item, max: item, count: 1}); }")
REDUCE = ("function(key, values) { var reduced = values[0]; for (var i = 1; i < values.length; i++) {"
          " reduced.sum += values[i].sum; reduced.min = Math.min(reduced.min, values[i].min);"
          " reduced.max = Math.max(reduced.max, values[i].max); reduced.count += values[i].count; } return reduced; }")
# the study's column: the suite, the query, the published table and its column
COLUMNS = [("Map Reduce", "obd", "map-reduce", "map-reduce"), ("Map Reduce, jsMode", "obd", "map-reduce-js", "map-reduce-js"),
           ("list", "obd", "list", "list"), ("accumulators", "obd", "accumulators", "accumulators"),
           ("Map Reduce 2", "obd-stored", "map-reduce", "stored map-reduce"),
           ("Map Reduce 2, jsMode", "obd-stored", "map-reduce-js", "stored map-reduce-js"),
           ("whole documents", "obd", "whole", "whole"), ("$group", "obd", "group", None),
           ("$accumulator", "obd", "accumulator", None)]
# of these columns one by the other
RATIOS = [("Map Reduce / accumulators", 0, 3), ("Map Reduce, jsMode / Map Reduce", 1, 0), ("Map Reduce 2 / Map Reduce", 4, 0),
          ("list / accumulators", 2, 3), ("whole documents / accumulators", 6, 3)]
COSTS = [("obd", "map-reduce"), ("obd", "map-reduce-js"), ("obd-stored", "map-reduce"), ("obd", "list"), ("obd", "accumulators"),
         ("obd", "whole"), ("obd", "chunks-of-100000"), ("obd", "chunks-of-10000")]


def short(value, digits):
    return "%.0f" % value if value >= 100 else "%.*g" % (digits, value)


def figure(found):
    if not found or found["docs_per_ms"] is None:
        return "-"
    deviation = found.get("docs_per_ms_sd")
    return short(found["docs_per_ms"], 3) + (" σ " + short(deviation, 2) if deviation is not None else "")


def plan_of(client, **more):
    """What the server makes of a map-reduce: the names of its stages."""
    said = client.command("study", {"explain": {"mapReduce": "obd", "map": Code(MAP), "reduce": Code(REDUCE), "out": {"inline": 1},
                                                "limit": 1000, **more}, "verbosity": "queryPlanner"})
    stages = said.get("stages") or [{"$cursor": {}}]
    return ", ".join(next(iter(stage)) for stage in stages)


def reasons(place, uri, client, most):
    """Of what does not follow the study: who worked, and what the server made of the options."""
    costs, examined = [], {}
    for suite, query in COSTS:
        repeats = place.choose(3, 1, 1)
        with place.meter() as cost:
            said = place.query(suite, uri, query, "--repeats", repeats, "--warmup", 0, "--param", "n=%d" % most)
        costs.append(("%s%s" % (query, " (stored)" if suite == "obd-stored" else ""), repeats * most, cost))
        examined[query] = said["queries"][0]["beside"]["documents_examined"]
    plans = {words: plan_of(client, **more) for words, more in (
        ("functions sent", {}), ("jsMode", {"jsMode": True}),
        ("functions stored", {"map": Code("function() { mapit.apply(this); }"),
                              "reduce": Code("function(key, values) { return reduceit(key, values); }")}))}
    return costs, examined, plans


def measure(place, rows):
    """{(suite, query, n): figures}"""
    found = {}
    with place.server(cache="1G") as server:
        uri = collection(server, "study.obd")
        say("loading %s documents", count(rows))
        place.load("obd", uri, place.made("obd", "--rows", str(rows)))
        sizes = [10**power for power in range(7) if 10**power <= rows]
        repeats = place.choose(10, 3, 1)
        with place.client(server) as client:
            client.insert("study", "system.js", [{"_id": "mapit", "value": Code(MAP)},
                                                 {"_id": "reduceit", "value": Code(REDUCE)}])
            for suite in ("obd", "obd-stored"):
                say("asking the suite %s over 1 to %s documents, %d times each", suite, count(sizes[-1]), repeats)
                # what asks for a million only is asked for the most that there are
                said = place.query(suite, uri, "--repeats", repeats, "--param", "n=%s" % sizes, report=suite)
                for one in said["queries"]:
                    found[suite, one["name"], int(one["with"].partition("=")[2])] = one
            say("looking for reasons")
            return sizes, found, reasons(place, uri, client, sizes[-1])


def tell_ratios(place, sizes, found, published):
    """Ways beside each other carry over, where a speed by itself does not."""
    def both(n, key):
        here, there = found.get((key[1], key[2], n)), published.get(str(n), {}).get(key[3])
        return here["docs_per_ms"] if here else None, float(there.split()[0]) if there else None
    rows = []
    for words, over, under in RATIOS:
        for n in sizes:
            above, below = both(n, COLUMNS[over]), both(n, COLUMNS[under])
            ratios = ["%.2f" % (one / other) if one and other else "-" for one, other in zip(above, below)]
            rows += [[words, count(n), *ratios]] if n in (1000, sizes[-1]) else []
    place.tell("What carries over: how fast the ways are beside each other.")
    place.tell()
    place.table(["ratio", "documents", "here", "published"], rows)
    lines = {}
    for number in (0, 3, 6):
        lines[COLUMNS[number][0]], lines[COLUMNS[number][0] + ", published"] = zip(*(both(n, COLUMNS[number]) for n in sizes))
    place.plot("Four figures of one field over n documents", list(map(count, sizes)), lines, "documents a millisecond", log=True)


def run(place):
    rows = place.documents(1_300_000, 20_000, 2_000)
    sizes, found, (costs, examined, plans) = measure(place, rows)
    published = place.published("obd ways")
    place.tell("%s documents of car sensors on a standalone (%s). Documents a millisecond, mean and deviation of the"
               " repeats; published: a Core2 T9600 with 4 GB and mongod 2.4, 1.3 million documents, ten repeats.",
               count(rows), place.host())
    place.tell()
    for columns in (COLUMNS[:4], COLUMNS[4:7], COLUMNS[7:]):
        head = ["documents"]
        for name, _, _, column in columns:
            head += [name] + (["published"] if column else [])
        table = []
        for size in sizes:
            row = [count(size)]
            for _, suite, query, column in columns:
                row.append(figure(found.get((suite, query, size))))
                if column:
                    row.append(published.get(str(size), {}).get(column, "-"))
            table.append(row)
        place.table(head, table)
    most = sizes[-1]
    chunks = [["one find", figure(found.get(("obd", "accumulators", most)))],
              ["chunks of 100,000", figure(found.get(("obd", "chunks-of-100000", most)))],
              ["chunks of 10,000", figure(found.get(("obd", "chunks-of-10000", most)))]]
    place.tell("All %s documents by accumulators in the client. The study reckoned for map-reduce that ten chunks of 10^5"
               " take %s s and a hundred of 10^4 %s s, instead of %s s for 10^6 at once.", count(most),
               *(place.published("obd chunks")[row]["seconds"] for row in ("10 x 10^5", "100 x 10^4", "10^6")))
    place.tell()
    place.table(["asked in", "documents/ms"], chunks)
    tell_ratios(place, sizes, found, published)
    place.tell("Who had the CPUs meanwhile, over %s documents (seconds of CPU; all that was sent came from memory):", count(most))
    place.tell()
    costs_table(place, costs, "way")
    place.tell("Documents that the server looked at for %s: %s.", count(most),
               ", ".join("%s %s" % (query, "-" if number is None else count(round(number))) for query, number in examined.items()))
    place.tell()
    place.tell("What the server makes of map-reduce (its stages): %s.", "; ".join("%s: %s" % each for each in plans.items()))
    place.tell()
    place.tell("What differs on this host: server and client share its %d CPUs, with no network between them, and the client is a program in C;"
               " the study's was Python on a host of its own.", os.cpu_count())
