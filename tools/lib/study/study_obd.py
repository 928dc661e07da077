"""Car sensors, 2015: min, max, sum and count of one field over the first 10^0 to 10^6 documents, in many ways."""
from minimongo import Code
from workplace import count, say

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


def short(value, digits):
    return "%.0f" % value if value >= 100 else "%.*g" % (digits, value)


def figure(found):
    if not found or found["docs_per_ms"] is None:
        return "-"
    deviation = found.get("docs_per_ms_sd")
    return short(found["docs_per_ms"], 3) + (" σ " + short(deviation, 2) if deviation is not None else "")


def measure(place, rows):
    """{(suite, query, n): figures}"""
    found = {}
    with place.server(cache="1G") as server:
        uri = server.replace("/?", "/study.obd?") if "/?" in server else server.rstrip("/") + "/study.obd"
        say("loading %s documents", count(rows))
        loaded = place.load("obd", uri, place.made("obd", "--rows", str(rows)))
        with place.client(server) as client:
            client.insert("study", "system.js", [{"_id": "mapit", "value": Code(MAP)},
                                                 {"_id": "reduceit", "value": Code(REDUCE)}])
        sizes = [10**power for power in range(7) if 10**power <= rows]
        repeats = place.choose(10, 3, 1)
        for suite in ("obd", "obd-stored"):
            say("asking the suite %s over 1 to %s documents, %d times each", suite, count(sizes[-1]), repeats)
            # what asks for a million only is asked for the most that there are
            said = place.query(suite, uri, "--repeats", repeats, "--param", "n=%s" % sizes, report=suite)
            for one in said["queries"]:
                found[suite, one["name"], int(one["with"].partition("=")[2])] = one
    return sizes, found, loaded


def run(place):
    rows = place.documents(1_300_000, 20_000, 2_000)
    sizes, found, _ = measure(place, rows)
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
