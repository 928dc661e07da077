"""Car sensors, 2015: min, max, sum and count of one field over the first 10^0 to 10^6 documents, in many ways."""
import concurrent.futures
import json
import os

from minimongo import Code
from workplace import Failed, collection, count, ratio, say

ARTICLE = ("Car sensors: four figures of one field",
           "\"Learning mongo\", parts 1 to 3, 22 February 2015, a blog; the article names no author",
           "Are least, greatest, sum and count of one field computed faster by map-reduce in the server or by a client?")
MAP = ("function() { var item = this.engineRevolutionsPerMinute;"
       " emit(0, {sum: item, min: item, max: item, count: 1}); }")
REDUCE = ("function(key, values) { var reduced = values[0]; for (var i = 1; i < values.length; i++) {"
          " reduced.sum += values[i].sum; reduced.min = Math.min(reduced.min, values[i].min);"
          " reduced.max = Math.max(reduced.max, values[i].max); reduced.count += values[i].count; } return reduced; }")
# the article's column: the suite, the query, the published table's column
COLUMNS = [("Map Reduce", "obd", "map-reduce", "map-reduce"), ("Map Reduce, jsMode", "obd", "map-reduce-js", "map-reduce-js"),
           ("list", "obd", "list", "list"), ("accumulators", "obd", "accumulators", "accumulators"),
           ("Map Reduce 2", "obd-stored", "map-reduce", "stored map-reduce"),
           ("Map Reduce 2, jsMode", "obd-stored", "map-reduce-js", "stored map-reduce-js"),
           ("whole documents", "obd", "whole", "whole"), ("$group", "obd", "group", None),
           ("$accumulator", "obd", "accumulator", None)]
# part 3's second table: server and client on one host, as here; and part 2's tables of a tenth of the documents
IMAC = [("Map Reduce 2, jsMode", "obd-stored", "map-reduce-js", "iMac stored map-reduce-js"),
        ("accumulators", "obd", "accumulators", "iMac accumulators")]
TENTH = [("Map Reduce", "tenth", "map-reduce", "130,000 documents, map-reduce"),
         ("Map Reduce, jsMode", "tenth", "map-reduce-js", "130,000 documents, map-reduce-js"),
         ("whole documents", "tenth", "whole", "130,000 documents, list")]
# of these columns one by the other
RATIOS = [("Map Reduce / accumulators", 0, 3), ("Map Reduce, jsMode / Map Reduce", 1, 0), ("Map Reduce 2 / Map Reduce", 4, 0),
          ("list / accumulators", 2, 3), ("whole documents / accumulators", 6, 3)]
WAYS = ("map-reduce", "accumulators")  # that are asked in chunks
AT_ONCE = 4                            # clients, each with its part of the chunks
CHUNKS = """suite: obd-chunks
queries:
  - name: map-reduce
    each: {chunk: %s}
    mapReduce: {map: %s, reduce: %s, query: {_id: {$param: chunk}}}
  - name: accumulators
    each: {chunk: %s}
    accumulate: {field: engineRevolutionsPerMinute, filter: {_id: {$param: chunk}}}
"""


def short(value, digits):
    return "%.0f" % value if value >= 100 else "%.*g" % (digits, value)


def figure(found):
    if not found or found["docs_per_ms"] is None:
        return "-"
    deviation = found.get("docs_per_ms_sd")
    return short(found["docs_per_ms"], 3) + (" σ " + short(deviation, 2) if deviation is not None else "")


def ask(place, uri, suite, queries, sizes, key, found):
    repeats = place.choose(10, 3, 1)
    say("asking %s of the suite %s over 1 to %s documents, %d times each", ", ".join(queries), suite, count(sizes[-1]), repeats)
    with place.meter("%s, up to %s" % (key, count(sizes[-1]))) as cost:
        said = place.query(suite, uri, *queries, "--repeats", repeats, "--param", "n=%s" % sizes, report=key)
        cost.number = repeats * len(queries) * sum(sizes)
    for one in said["queries"]:
        found[key, one["name"], int(one["with"].partition("=")[2])] = one


def ask_chunks(place, uri, client, documents, number, at_once=1):
    """Seconds of all documents by each of two ways: one range of _ids after the other, or several clients with a part of
    the ranges each, at once; the slowest client counts."""
    ranges = [(one["_id"]["min"], one["_id"]["max"]) for one in
              client.aggregate("study", "obd", [{"$limit": documents}, {"$bucketAuto": {"groupBy": "$_id", "buckets": number}}])]
    last = len(ranges) - 1
    bounds = {"c%d" % at: {"$gte": least, "$lte" if at == last else "$lt": most} for at, (least, most) in enumerate(ranges)}

    def ask_part(part):
        path, chosen = place.folder / ("chunks-%d.yaml" % part), json.dumps(dict(list(bounds.items())[part::at_once]))
        path.write_text(CHUNKS % (chosen, json.dumps(MAP), json.dumps(REDUCE), chosen))
        return place.query(path, uri, "--repeats", place.choose(3, 1, 1), "--warmup", place.choose(1, 0, 0))["queries"]
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        parts = list(pool.map(ask_part, range(at_once)))
    if any(sum(one["result"][0]["value"]["count"] for part in parts for one in part if one["name"] == name) != documents for name in WAYS):
        raise Failed("the chunks do not have %s documents" % count(documents))
    return {name: max(sum(one["mean_ms"] for one in part if one["name"] == name) for part in parts) / 1000 for name in WAYS}


def measure(place, rows):
    """{(suite, query, n): figures}, and {(number of chunks, clients at once, way): seconds}"""
    found, chunks = {}, {}
    sizes = [10**power for power in range(7) if 10**power <= rows]
    with place.server(cache="1G") as server, place.client(server) as client:
        for name, number in (("tenth", rows // 10), ("obd", rows)):
            say("loading %s documents", count(number))
            paths = place.made("obd", "--rows", str(number))
            with place.meter("load, %s" % count(number), number):
                place.load("obd", collection(server, "study." + name), paths)
        client.insert("study", "system.js", [{"_id": "mapit", "value": Code(MAP)}, {"_id": "reduceit", "value": Code(REDUCE)}])
        uri = collection(server, "study.obd")
        ask(place, collection(server, "study.tenth"), "obd", [query for _, _, query, _ in TENTH],
            [size for size in sizes[1:] if size <= rows // 10], "tenth", found)
        for suite in ("obd", "obd-stored"):
            ask(place, uri, suite, [query for _, of, query, _ in COLUMNS if of == suite], sizes, suite, found)
        for number, at_once in ((10, 1), (100, 1), (10, AT_ONCE)):
            say("asking in %d chunks, %d at once", number, at_once)
            for name, seconds in ask_chunks(place, uri, client, sizes[-1], number, at_once).items():
                chunks[number, at_once, name] = seconds
    return sizes, found, chunks


def note_columns(place, columns, sizes, found, published):
    head, table, shown = ["documents"], [], ("1,000", count(sizes[-1]))
    for name, _, _, column in columns:
        head += [name, "published"] if column else [name]
    for size in sizes:
        row = [count(size)]
        for _, suite, query, column in columns:
            row += [figure(found.get((suite, query, size))), *([published.get(str(size), {}).get(column, "-")] if column else [])]
        table.append(row)
    place.table(head, table, together=2 if columns[0][3] else 1, page=lambda row: row[0] in shown)


def note_ratios(place, sizes, found, published):
    """Ways next to each other carry over, where a speed by itself does not."""
    def both(n, key):
        here, there = found.get((key[1], key[2], n)), published.get(str(n), {}).get(key[3])
        return here["docs_per_ms"] if here else None, float(there.split()[0]) if there else None
    rows = []
    for words, over, under in RATIOS:
        for n in sizes:
            if n in (1000, sizes[-1]):
                rows.append([words, count(n), *(ratio(*pair) for pair in zip(both(n, COLUMNS[over]), both(n, COLUMNS[under])))])
    place.note("What carries over: how fast the ways are by each other.")
    place.table(["ratio", "documents", "here", "published"], rows, page=lambda row: row[1] == count(sizes[-1]))
    lines = {}
    for number in (0, 3, 6):
        lines[COLUMNS[number][0]], lines[COLUMNS[number][0] + ", published"] = zip(*(both(n, COLUMNS[number]) for n in sizes))
    place.plot("Four figures of one field over n documents", list(map(count, sizes)), lines, "documents a millisecond", log=True)
    return {row[0]: row for row in rows}  # of the most documents


def run(place):
    rows = place.documents(1_300_000, 20_000, 2_000)
    sizes, found, chunks = measure(place, rows)
    published, most = place.published("obd ways"), sizes[-1]
    place.note("%s documents of car sensors on a standalone. Figures are documents a millisecond, means of the"
               " repeats. Published: 1.3 million documents, ten repeats, mongod 2.4.", count(rows))
    place.note("Part 3, the first table; published: a Core2 T9600 with 4 GB, the client on another host. Whole documents: part 2.")
    note_columns(place, COLUMNS[:7], sizes, found, published)
    place.note("What the article did not have:")
    note_columns(place, COLUMNS[7:], sizes, found, published)
    place.note("Part 3, the second table; published: server and client on one iMac, as they are on one host here.")
    note_columns(place, IMAC, sizes, found, published)
    place.note("Part 2: a tenth of the documents, %s here and 130,000 there, where the client read whole documents:",
               count(rows // 10))
    note_columns(place, TENTH, [size for size in sizes[1:] if size <= rows // 10], found, published)
    known = place.published("obd chunks")
    place.note("%s documents in chunks, each a range of `_id`; seconds. Published for 10^6 documents, where chunks one after the"
               " other were computed, not measured; %s s by Postgres.",
               count(most), known["Postgres"]["seconds"])
    place.table(["asked in", "map-reduce", "accumulators", "published, 10^6"],
                [["1 find", *("%.3g" % (most / 1000 / found["obd", name, most]["docs_per_ms"]) for name in WAYS),
                  known["10^6"]["seconds"]],
                 *(["%d chunks" % number, *("%.3g" % chunks[number, 1, name] for name in WAYS),
                    known["%d x 10^%d" % (number, 7 - len(str(number)))]["seconds"]] for number in (10, 100)),
                 ["10 chunks, by %d clients at once" % AT_ONCE, *("%.3g" % chunks[10, AT_ONCE, name] for name in WAYS),
                  known["threads of the client"]["seconds"]]])
    ratios = note_ratios(place, sizes, found, published)
    place.leave_out(["%s documents" % count(10**power) for power in range(7) if 10**power > rows])
    place.note("What differs here: server and client share %d CPUs, with no network between them, and the client is a"
               " program in C; the article's was Python. The server of today makes the same stages of all map-reduces.", os.cpu_count())
    ways, mode, stored = (ratios[RATIOS[at][0]] for at in range(3))
    place.conclude("Over %s documents map-reduce in the server has %s of the speed of a client that reads one field"
                   " (published %s); jsMode and stored functions change it by the factors %s and %s (published %s and"
                   " %s).", ways[1], *ways[2:], mode[2], stored[2],
                   mode[3], stored[3])
