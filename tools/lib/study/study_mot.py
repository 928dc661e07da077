"""Vehicle tests, 2015: greenness, one question that looks at every document, on more and more shards."""
import re

from workplace import count, say, time_of

# the study's row: shards, cache at the load, cache of each at the query
ROWS = [("WiredTiger zlib", 1, "1G", "1G"), ("WiredTiger zlib, 2 shards, 1 GB", 2, "512M", "512M"),
        ("WiredTiger zlib, 4 shards, 2 MB", 4, "256M", "4M"), ("WiredTiger zlib, 8 shards, 2 MB", 8, "256M", "4M"),
        ("WiredTiger zlib, 16 shards, 2 MB", 16, "256M", "4M")]


def empty_page_cache():
    """False: this host does not let us."""
    try:
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("3\n")
    except OSError:
        return False
    return True


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


def bytes_read(place, shards):
    """From disk, by all shards, since they were started."""
    with place.shards(shards) as (members, _):
        return sum(int(line.split()[1]) for member in members for line in open("/proc/%d/io" % member["pid"])
                   if line.startswith("read_bytes:"))


def percent(share):
    return "-" if share is None else "%.0f" % (100 * share)


def measure(place, shards, cache, after, paths):
    with place.cluster(shards, cache, routers=1, compressor="zlib") as up:
        uri = up(fresh=True).replace("/?", "/vosa.mot_results?")
        uri = uri if "vosa" in uri else uri.rstrip("/") + "/vosa.mot_results"
        say("%d shard%s: loading", shards, "" if shards == 1 else "s")
        loaded = place.load("mot", uri, paths, "--copies", 2)
        up(cache=after)
        cold = empty_page_cache()
        say("%d shard%s: asking", shards, "" if shards == 1 else "s")
        before = bytes_read(place, shards)
        said = place.query("mot", uri, "greenness", "--repeats", 1, "--warmup", 0, "--param", "diesels=[D]",
                           report="greenness-%d" % shards)
        return loaded, said, cold, settings(place, shards), bytes_read(place, shards) - before


def run(place):
    rows = place.documents(4_000_000, 200_000, 5_000)
    paths = place.made("mot", "--rows", str(rows // 2), "--release", "2013")
    chosen = place.choose(ROWS, ROWS[:3], ROWS[:2])
    published = place.published("mot configurations")
    table, times, cold = [], {}, True
    for name, shards, before, after in chosen:
        loaded, said, was_cold, here, read = measure(place, shards, before, after, paths)
        query, beside = said["queries"][0], said["queries"][0]["beside"]
        cold = cold and was_cold
        times[name] = query["mean_ms"] / 1000
        disk = (said["data_bytes_on_disk"] + said["index_bytes_on_disk"]) / 1e9
        row = [name, here, "%.3g" % disk, published[name]["disk GB"], time_of(loaded["seconds"]), published[name]["load min"],
               time_of(times[name]), published[name]["query"]]
        for share in ("user", "sys", "iowait", "idle"):
            row += [percent(beside[share]), published[name][share]]
        row += ["%.3g" % (read / 1e6 / times[name]), published[name].get("read MB/s", "-")]
        table.append(row)
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
    first = chosen[0][0]
    place.tell("The query's time as a part of that on one shard:")
    place.tell()
    seconds = {name: int(minutes) * 60 + int(rest) for name in times
               for minutes, rest in [published[name]["query"].split(":")]}
    place.table(["engine, options", "here", "published"],
                [[name, "%.2f" % (times[name] / times[first]), "%.2f" % (seconds[name] / seconds[first])]
                 for name in times])
    engines = [name for name in published if name.startswith("mmap")]
    place.tell("Published only, since that engine is gone: %s.",
               "; ".join("%s %s GB, %s min, %s" % (name, published[name]["disk GB"], published[name]["load min"],
                                                   published[name]["query"]) for name in engines))
