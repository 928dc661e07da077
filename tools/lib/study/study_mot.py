"""Vehicle tests, 2015: greenness, one question that looks at every document, on more and more shards."""
import os
import re

from meter import SHARES, costs_table
from workplace import collection, count, empty_page_cache, say, time_of

# the study's row: shards, cache at the load, cache of each at the query
ROWS = [("WiredTiger zlib", 1, "1G", "1G"), ("WiredTiger zlib, 2 shards, 1 GB", 2, "512M", "512M"),
        ("WiredTiger zlib, 4 shards, 2 MB", 4, "256M", "4M"), ("WiredTiger zlib, 8 shards, 2 MB", 8, "256M", "4M"),
        ("WiredTiger zlib, 16 shards, 2 MB", 16, "256M", "4M")]


def settings(place, shards):
    """What the shards themselves say of their engine, compressor and cache."""
    found = set()
    with place.shards(shards) as (members, connect):
        for member in members:
            with connect(member) as client:
                server = client.command("admin", {"serverStatus": 1})
                made = client.command("vosa", {"collStats": "mot_results"})["wiredTiger"]["creationString"]
            found.add((server["storageEngine"]["name"], re.search(r"block_compressor=(\w*)", made)[1],
                       server["wiredTiger"]["cache"]["maximum bytes configured"] >> 20))
    return "; ".join("%s %s, %d shard%s, %d MB" % (engine, compressor or "none", shards, "" if shards == 1 else "s", cache)
                     for engine, compressor, cache in sorted(found))


def percent(share):
    return "-" if share is None else "%.0f" % (100 * share)


def measure(place, shards, cache, after, paths):
    with place.cluster(shards, cache, routers=1, compressor="zlib") as up:
        uri = collection(up(fresh=True), "vosa.mot_results")
        say("%d shard%s: loading", shards, "" if shards == 1 else "s")
        with place.meter() as load:
            loaded = place.load("mot", uri, paths, "--copies", 2)
        up(cache=after)
        cold = empty_page_cache()
        say("%d shard%s: asking", shards, "" if shards == 1 else "s")
        with place.meter() as asked:
            said = place.query("mot", uri, "greenness", "--repeats", 1, "--warmup", 0, "--param", "diesels=[D]",
                               report="greenness-%d" % shards)
        return loaded, said, cold, settings(place, shards), load, asked


def tell_ratios(place, times, loads, published, seconds):
    first = next(iter(times))
    rows = [[name, "%.2f" % (times[name] / times[first]), "%.2f" % (seconds[name] / seconds[first]), "%.2f" % (loads[name] / loads[first]),
             "%.2f" % (int(published[name]["load min"]) / int(published[first]["load min"]))] for name in times]
    place.tell("What carries over: the query's and the load's time as a part of those on one shard.")
    place.tell()
    place.table(["engine, options", "query", "published", "load", "published"], rows)
    shards = [name.partition(", ")[2].partition(" shard")[0] or "1" for name in times]
    for title, column in (("query", 1), ("load", 3)):
        place.plot("Time of the %s by number of shards" % title, shards,
                   {"here": [float(row[column]) for row in rows], "published": [float(row[column + 1]) for row in rows]},
                   "part of the time on one shard")


def run(place):
    rows = place.documents(4_000_000, 200_000, 5_000)
    paths = place.made("mot", "--rows", str(rows // 2), "--release", "2013")
    chosen = place.choose(ROWS, ROWS[:3], ROWS[:2])
    published = place.published("mot configurations")
    table, times, loads, costs, cold = [], {}, {}, [], True
    for name, shards, before, after in chosen:
        loaded, said, was_cold, here, load, asked = measure(place, shards, before, after, paths)
        query, beside = said["queries"][0], said["queries"][0]["beside"]
        cold = cold and was_cold
        times[name], loads[name] = query["mean_ms"] / 1000, loaded["seconds"]
        disk = (said["data_bytes_on_disk"] + said["index_bytes_on_disk"]) / 1e9
        row = [name, here, "%.3g" % disk, published[name]["disk GB"], time_of(loads[name]), published[name]["load min"],
               time_of(times[name]), published[name]["query"]]
        for share in SHARES:
            row += [percent(beside[share]), published[name][share]]
        row += ["%.3g" % (asked.read / 1e6 / times[name]), published[name].get("read MB/s", "-")]
        table.append(row)
        costs += [("%s, %d" % (what, shards), loaded["loaded"], cost) for what, cost in (("load", load), ("query", asked))]
    place.tell("%s vehicle tests, loaded twice as in the study, on %s; each shard with the cache that the row says (4M where the study had 2, which no"
               " mongod takes today), set after the load%s. Behind each column what the study published for 580,650,946 on"
               " 16 CPUs and 30 GB with MongoDB 3.0.4: load in minutes, query in minutes and seconds, CPU in percent, what the"
               " servers read from disk meanwhile.",
               count(rows // 2), place.host(), "" if cold else "; the page cache could not be emptied on this host")
    place.tell()
    head = ["engine, options", "here"]
    for name in ("disk GB", "load", "query", "user", "sys", "iowait", "idle", "read MB/s"):
        head += [name, "published"]
    place.table(head, table, left=2)
    seconds = {name: int(minutes) * 60 + int(rest) for name in times
               for minutes, rest in [published[name]["query"].split(":")]}
    tell_ratios(place, times, loads, published, seconds)
    place.tell("Who had the CPUs (seconds of CPU; of %d CPUs), what it was a document, and the disk, by number of shards:", os.cpu_count())
    place.tell()
    costs_table(place, sorted(costs, key=lambda one: one[0].split(",")[0]), "what, shards")
    engines = [name for name in published if name.startswith("mmap")]
    place.tell("Published only, since that engine is gone: %s.",
               "; ".join("%s %s GB, %s min, %s" % (name, published[name]["disk GB"], published[name]["load min"],
                                                   published[name]["query"]) for name in engines))
    place.tell()
    place.tell("What differs on this host: shards, router, loader and query share %d CPUs, and all data fit into memory; they are read from disk"
               " once, by the first query after the page cache was emptied.", os.cpu_count())
