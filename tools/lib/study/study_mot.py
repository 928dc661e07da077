"""Vehicle tests, 2015: greenness, one question that reads every document, on more and more shards with small caches."""
import os

from workplace import collection, count, empty_page_cache, ratio, say, time_of

SHARES = ("user", "sys", "iowait", "idle")
ARTICLE = ("Vehicle tests: one question of all documents",
           "\"How Wired Tiger opens up the option of MongoDB for Big Data Analytics\", 3 July 2015, by the author of"
           " https://github.com/johnlpage/BigAggBlog",
           "How long does one scan of half a billion small documents take on one host, by compression and number of shards? The article's"
           " answer: compress them so far that they fit into the page cache, and run a shard with a tiny cache for each core.")
# the article's row, its shards, and the cache of each during the query, in MB: 1 GB there was 1/89 of its data, as 7 MB is here
ROWS = [("zlib", 1, 7), ("zlib, 2 shards, 1 GB", 2, 7), ("zlib, 4 shards, 2 MB", 4, 2),
        ("zlib, 8 shards, 2 MB", 8, 2), ("zlib, 16 shards, 2 MB", 16, 2)]


def counted(shards):
    return "%d shard%s" % (shards, "" if shards == 1 else "s")


def measure(place, shards, cache, paths):
    """The load, the query with an empty page cache, and the query when the page cache has the compressed files."""
    with place.cluster(shards, "256M", routers=1, compressor="zlib") as up:
        uri = collection(up(fresh=True), "vosa.mot_results")
        say("%s: loading", counted(shards))
        with place.meter("load, %d" % shards) as load:
            load.said = place.load("mot", uri, paths, "--copies", 2)
            load.number = load.said["loaded"]
        up(cache="%dM" % cache)
        emptied, asked = empty_page_cache(), {}
        for name, repeats in (("cold", 1), ("warm", place.choose(3, 2, 1))):
            say("%s: asking, %s", counted(shards), name)
            with place.meter("query %s, %d" % (name, shards), repeats * load.number) as cost:
                cost.said = place.query("mot", uri, "greenness", "--repeats", repeats, "--warmup", 0, "--param", "diesels=[D]",
                                        report="greenness-%d-%s" % (shards, name))
            cost.query, cost.times = cost.said["queries"][0], repeats
            asked[name] = cost
        if not emptied:
            place.warn("the page cache could not be emptied, so that the cold queries are warm, too")
        return load, asked["cold"], asked["warm"]


def run(place):
    rows = place.documents(4_000_000, 200_000, 5_000)
    paths = place.made("mot", "--rows", str(rows // 2), "--release", "2013")
    chosen, published = place.choose(ROWS, ROWS[:3], ROWS[:2]), place.published("mot configurations")
    found = {name: measure(place, shards, cache, paths) for name, shards, cache in chosen}
    seconds = {name: [cost.query["mean_ms"] / 1000 for cost in one[1:]] for name, one in found.items()}
    minutes = {name: int(published[name]["query"].split(":")[0]) * 60 + int(published[name]["query"].split(":")[1]) for name in found}
    place.note("%s vehicle tests, loaded twice as in the article, into lab clusters with one router. Published:"
               " 580,650,946 tests, 16 CPUs, 30 GB, MongoDB 3.0.4. The data were loaded with caches of 256 MB; the"
               " queries ran with these: %s.",
               count(rows // 2), "; ".join("%s, %d MB each" % (counted(shards), cache) for _, shards, cache in chosen))
    place.note("The query with the compressed files in the page cache, as published, in minutes and seconds:")
    place.table(["options", "disk GB", "published GB", "load", "published min", "query", "published"],
                [[name, "%.3g" % ((warm.said["data_bytes_on_disk"] + warm.said["index_bytes_on_disk"]) / 1e9), published[name]["disk GB"],
                  time_of(load.said["seconds"]), published[name]["load min"], time_of(seconds[name][1]), published[name]["query"]]
                 for name, (load, _, warm) in found.items()], together=2)
    place.note("CPU during that query, in percent of all CPUs:", page=False)
    place.table(["options", *(word for share in SHARES for word in (share, "published"))],
                [[name, *(word for share in SHARES for word in ("%.0f" % (100 * warm.query["beside"][share]), published[name][share]))]
                 for name, (_, _, warm) in found.items()], together=2, page=False)
    place.note("What one query read of its files, from the page cache and from the disk, after the page cache was"
               " emptied (cold) and again (warm):", page=False)
    place.table(["options", "", "query", "files MB", "disk MB"],
                [[name, state, time_of(seconds[name][at]), *("%.3g" % (number / 1e6 / cost.times) for number in (cost.asked, cost.read))]
                 for name, (_, *costs) in found.items() for at, (state, cost) in enumerate(zip(("cold", "warm"), costs))],
                page=False)
    place.note("Published: %s MB/s from the disk on one server with the default cache, which leaves the page cache no room"
               " for the files, and %s on two shards of 1 GB; the first is not made here.",
               *(published[name]["read MB/s"] for name in ("zlib", "zlib, 2 shards, 1 GB")), page=False)
    first = ROWS[0][0]
    rows = [[name, ratio(seconds[name][1], seconds[first][1]), ratio(minutes[name], minutes[first]),
             ratio(found[name][0].said["seconds"], found[first][0].said["seconds"]),
             ratio(int(published[name]["load min"]), int(published[first]["load min"]))] for name in found]
    place.note("What carries over: the time of the warm query and of the load as a part of those on one shard.")
    place.table(["options", "query", "published", "load", "published"], rows)
    for title, column in (("query", 1), ("load", 3)):
        place.plot("Time of the %s by number of shards" % title, [str(shards) for _, shards, _ in chosen],
                   {"here": [float(row[column]) for row in rows], "published": [float(row[column + 1]) for row in rows]},
                   "part of the time on one shard")
    place.leave_out(["%s (query %s, load %s min)" % (name, published[name]["query"], published[name]["load min"])
                     for name in published if name not in found and "mmap" not in name])
    place.note("Published only, since that engine is gone: %s.", "; ".join(
        "%s %s GB, load %s min, query %s" % (name, *(published[name][key] for key in ("disk GB", "load min", "query")))
        for name in published if "mmap" in name), page=False)
    place.note("What differs here: shards, router, loader and query share %d CPUs, and the page cache always has room for all files."
               " An aggregation uses one core of a shard at a time, so more shards make it faster until all cores are busy.",
               os.cpu_count())
    warm = [cost for _, _, cost in found.values()]
    name = chosen[1][0]
    place.conclude_counts("Warm in the page cache, with caches of %s the queries read %s MB of their files, %.2g MB of"
                          " them from the disk; a query takes %.3g seconds of CPU of one server and %.3g of two shards.",
                          " and ".join(dict.fromkeys("%d MB" % cache for *_, cache in chosen)),
                          count(round(sum(cost.asked / cost.times for cost in warm) / 1e6)), sum(cost.read / cost.times for cost in warm) / 1e6,
                          *(cost.servers / cost.times for cost in warm[:2]))
    place.conclude("On two shards the query takes %s of its time on one (published %s).", rows[1][1], ratio(minutes[name], minutes[first]))
