"""A petabyte, 2014: documents of 147 kB loaded by one loader a shard, each with a range of _ids, and what was asked of them."""
import concurrent.futures
import contextlib
import os
import time

from meter import Sampler
from minimongo import Int64
from workplace import Failed, collection, count, ratio, say

ARTICLE = ("A petabyte: large documents, a skewed field with an index", "\"Building an Inexpensive Petabyte Database"
           " with MongoDB and Amazon Web Services\", parts 1 and 2, Chris Biow, 19 November 2014,"
           " https://www.mongodb.com/blog/post/building-inexpensive-petabyte-database-mongodb-and-amazon-web-services-part-1",
           "How fast is a petabyte loaded when each shard has a loader of its own, and how fast are documents found by a field that is not"
           " the shard key?")

VALUES = 1_000_000        # of each integer field
SUM = 15.3918             # 0 is in 1/15.3918 of the documents, and k in 1/(k + 1)^0.99 of that
DOCUMENT = 242            # bytes, without its texts
FREQUENT = 10             # a value that a small collection has documents of, too
SIZES = (("4 kB", 4_000), ("10 kB", 10_000), ("16 kB", 16_000), ("147 kB", 147_439))


def file_of(place, documents, first, size):
    """Of 147,439 bytes as --study makes them; others to the next eight bytes."""
    words = ("--study",) if size == 147_439 else ("--text-bytes", str(-(-(size - DOCUMENT) // 8)))
    return place.made("ycsb", "--rows", str(documents), "--first", str(first), *words)


def cut(documents, parts):
    """The first _id of each range."""
    return [documents * number // parts for number in range(parts)]


def lay_out(client, name, documents):
    """One chunk a shard, cut evenly by _id, as the article had it before its load."""
    shards = [one["_id"] for one in client.command("admin", {"listShards": 1})["shards"]]
    bounds = cut(documents, len(shards))
    client.command("admin", {"shardCollection": name, "key": {"_id": 1}})
    for bound in bounds[1:]:
        client.command("admin", {"split": name, "middle": {"_id": Int64(bound)}})
    for shard, bound in zip(shards, bounds):
        client.command("admin", {"moveChunk": name, "find": {"_id": Int64(bound)}, "to": shard})


def load_ranges(place, uri, documents, loaders, size):
    """That many loaders side by side, each with a range of _ids, past the router; seconds of all of them."""
    bounds = cut(documents, loaders) + [documents]
    paths = [file_of(place, end - first, first, size)[0] for first, end in zip(bounds, bounds[1:])]
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(loaders) as pool:
        done = list(pool.map(lambda path: place.load("ycsb", uri, [path], "--direct"), paths))
    if sum(one["loaded"] for one in done) != documents:
        raise Failed("the loaders of %s loaded %s documents" % (uri, [one["loaded"] for one in done]))
    return time.monotonic() - began


def figures(client, name, shards):
    """What the article's db.usertable.stats() said."""
    client.command("admin", {"fsync": 1})  # so that files have their size
    sums = {"objects": "count", "dataSize": "size", "storageSize": "storageSize", "indexes": "nindexes", "indexSize": "totalIndexSize"}
    found = next(iter(client.aggregate("study", name, [{"$collStats": {"storageStats": {}}}, {"$group": {
        "_id": None, **{key: {"$sum": "$storageStats." + figure} for key, figure in sums.items()}}}])))
    return {**found, "avgObjSize": found["dataSize"] / found["objects"], "shards": shards}


def explained(one):
    said = one["explained"]
    n, seen, shards, mean = (said[key] for key in ("returned", "documents_examined", "shards", "ms_of_a_shard"))
    times = {"millisShardTotal": round(mean * shards), "millisShardAvg": mean, "millis": said["ms"]}
    # a timing of nothing is not a timing
    return {"n": n, "nscanned": seen, "nChunkSkips": seen - n, "numShards": shards, **(times if n else {})}


def number(text):
    return float(text.replace(",", "").split()[0])


def shown(value):
    return "-" if value is None else count(round(value)) if value >= 100 or value == int(value) else "%.3g" % value


def rows_of(names, published, *found):
    """Ours, one column or two, what was published, and how many times that the first of ours is."""
    return [[name, *(shown(one.get(name)) for one in found), published[name]["figure"],
             "%.2g" % (found[0][name] / number(published[name]["figure"])) if found[0].get(name) else "-"] for name in names]


def ask(place, uri, documents):
    """What the suite asks; random values are below one of which three documents are there, as chance has it."""
    below = max(1, min(VALUES, int(documents / SUM / 3)))
    words = ("--repeats", place.choose(5, 2, 1), "--param", "below=%d" % below)
    said = place.query("ycsb", uri, "find", "top-five", "--setup", "--param", "value=[17000, 16000, %d]" % FREQUENT, *words,
                       report="find")
    found = {(one["name"], int(one["with"].partition("=")[2])): one for one in said["queries"]}
    say("asking for one document at a time")
    said = place.query("ycsb", uri, "one-by-value", "by-id", "--duration", "%ds" % place.choose(10, 3, 1),
                       "--clients", ",".join(map(str, place.choose((1, 2, 4, 8, 16, 32, 64), (1, 8, 64), (1, 64)))), *words,
                       report="one")
    return found, said["queries"], below


def tell_find(place, found, published):
    frequent, rare = explained(found["find", FREQUENT]), explained(found["find", 17000])
    place.note("find({fieldInt0: 17000}, {fieldInt0: 1, fieldInt1: 1}).explain(), and for %d, of which there are enough here:",
               FREQUENT)
    names = ("n", "nChunkSkips", "nscanned", "millisShardTotal", "millisShardAvg", "numShards", "millis")
    place.table(["", "17000", str(FREQUENT), "published", "17000 / published"], rows_of(names, published, rare, frequent),
                page=lambda row: row[0] in ("n", "nscanned", "millisShardAvg", "millis"))
    sums = [[(one["_id"], count(one["total"])) for one in found["top-five", value]["result"]] + 5 * [("-", "-")]
            for value in (16000, FREQUENT)]
    rows = [["%d." % (at + 1), *sums[0][at], *sums[1][at], name, figure["total"]]
            for at, (name, figure) in enumerate(place.published("petabyte top five").items())]
    place.note("The five largest sums of fieldInt2 by fieldInt1, where fieldInt0 is 16000 (as published), and where it is %d:", FREQUENT)
    place.table(["", "16000", "total", str(FREQUENT), "total", "published", "total"], rows)
    return found["find", 17000]["nothing_found"]


def tell_one(place, asked, below, published):
    rows, rates = [], {"by value": [], "by _id": []}
    for clients in dict.fromkeys(one["clients"] for one in asked):
        each = {one["name"]: one for one in asked if one["clients"] == clients}
        rate = each["one-by-value"]["ops_per_second"]
        rows.append([clients, count(round(rate)), published, "%.2g" % (rate / number(published)),
                     count(round(each["by-id"]["ops_per_second"]))])
        rates["by value"].append(rate)
        rates["by _id"].append(each["by-id"]["ops_per_second"])
    empty = sum(one["empty"] for one in asked) / sum(one["n"] for one in asked)
    place.note("FindOne of a random value of fieldInt0 below %s, operations a second (nothing came back to %.0f %% of"
               " all), and of a random _id; the article does not say how many clients it had:",
               count(below), 100 * empty)
    place.table(["clients", "by value", "published", "ratio", "by _id"], rows, page=lambda row: row[0] in ("1", "8", "64"))
    place.plot("FindOne by clients", [row[0] for row in rows],
               {**rates, "by value, published": [number(published)] * len(rows)}, "operations a second")


def load_by_size(place):
    """Documents of the sizes that the article names, each as many bytes, on one server: the rates in MB/s."""
    total, rows, published = place.choose(400_000_000, 60_000_000, 3_000_000), [], place.published("petabyte sizes")
    with place.server(cache="512M") as server:
        for name, size in SIZES:
            documents = max(1, int(total * (place.options.scale or 1)) // size)
            path = file_of(place, documents, 0, size)
            say("loading %s documents of %s", count(documents), name)
            with place.meter("load of %s documents" % name, documents):
                seconds = place.load("ycsb", collection(server, "study.of%d" % size), path)["seconds"]
            rows.append((name, documents, documents / seconds, documents * size / seconds / 1e6))
    best = max(rate for *_, rate in rows)
    place.note("Load by size of the documents, one server, one loader. Published: from which size on the rate is near"
               " the best, and on which disks:")
    place.table(["document", "documents", "documents/s", "MB/s", "of the best", "published"],
                [[name, count(documents), count(round(each)), "%.0f" % rate, "%.2f" % (rate / best),
                  published.get(name, {}).get("near the best on", "-")] for name, documents, each, rate in rows])


def inserted(clients):
    return [client.command("admin", {"serverStatus": 1})["metrics"]["document"]["inserted"] for client in clients]


def plot_course(place, points, size):
    """The article has a picture of ten servers; here each line is a shard."""
    spans = [(later[0] - before[0], before, later) for before, later in zip(points, points[1:])]
    place.plot("The load of large documents over time, by shard", ["%.1f" % later[0] for _, _, later in spans],
               {"shard %d" % shard: [(later[1][shard] - before[1][shard]) * size / seconds / 1e6 for seconds, before, later in spans]
                for shard in range(len(points[0][1]))}, "MB/s, by seconds since the load began")


def load_and_ask(place, shards, large, small):
    with place.cluster(shards, "256M", routers=1) as up:
        server = up(fresh=True)
        for name, documents, size in (("usertable", large, 147_439), ("small", small, 322)):
            with place.client(server) as client:
                lay_out(client, "study." + name, documents)
            for first, end in zip(cut(documents, shards), cut(documents, shards)[1:] + [documents]):
                file_of(place, end - first, first, size)
            say("loading %s documents of %s bytes by %d loaders", count(documents), count(size), shards)
            with place.shards(shards) as (members, connect), contextlib.ExitStack() as stack:
                clients = [stack.enter_context(connect(member)) for member in members]
                with place.meter("load of %s bytes" % count(size), documents) as cost, Sampler(lambda: inserted(clients)) as course:
                    seconds = load_ranges(place, collection(server, "study." + name), documents, shards, size)
            if name == "usertable":
                large_rate, writes = large * size / seconds / 1e6, cost.writes / seconds
                plot_course(place, course.points, size)
        say("asking for a value, and for five sums")
        with place.meter("questions") as cost:
            asked = ask(place, collection(server, "study.small"), small)
            cost.number = sum(one["n"] for one in asked[1])
        place.query("ycsb", collection(server, "study.usertable"), "find", "--setup", "--repeats", 1, "--param", "value=0")
        with place.client(server) as client:
            stats = figures(client, "usertable", shards)
        stats["MB/s of a server"], stats["writes"] = large_rate, writes
        return stats, asked


def note_ratios(place, stats, found, small, published):
    def there(name):
        return number(published[name]["figure"])
    ours, sums = stats, [one["total"] for one in found["top-five", FREQUENT]["result"]]
    theirs = [number(one["total"]) for one in place.published("petabyte top five").values()]
    rare, frequent = explained(found["find", 17000]), explained(found["find", FREQUENT])
    place.note("What carries over:")
    place.table(["ratio", "here", "published"], [
        ["storage by data", "%.4f" % (ours["storageSize"] / ours["dataSize"]), "%.4f" % (there("storageSize") / there("dataSize"))],
        ["bytes of both indexes a document", "%.0f" % (ours["indexSize"] / ours["objects"]), "%.0f" % (there("indexSize") / there("objects"))],
        ["17000, of a million documents", "%.2f" % (1e6 * rare["n"] / small), "%.2f" % (1e6 * there("n") / there("objects"))],
        ["read by found", ratio(frequent["nscanned"], frequent["n"]), ratio(there("nscanned"), there("n"))],
        *(["sum %d by the largest" % (i + 1), ratio(sums[i], sums[0]), ratio(theirs[i], theirs[0])] for i in range(1, len(sums)))])


def run(place):
    if place.options.data:
        raise Failed("the documents of this study are made, each by its _id: leave --data out")
    shards = place.choose(4, 2, 2)
    large, small = place.documents(8_000, 800, 40), place.documents(3_000_000, 300_000, 5_000)
    stats, (found, asked, below) = load_and_ask(place, shards, large, small)
    published = place.published("petabyte")
    place.note("%s documents of 147,439 bytes, one chunk of _ids a shard; %d loaders, each with a range of _ids, past"
               " the router, to %d shards. Published: 216 shards, one loader for each, some 27"
               " servers of 24 disks (docs/planning.md says why), MongoDB 2.6 (mmap).",
               count(large), shards, shards)
    names = ("objects", "avgObjSize", "dataSize", "storageSize", "indexes", "indexSize", "shards", "MB/s of a server")
    place.table(["", "here", "published", "here / published"], rows_of(names, published, stats),
                page=lambda row: row[0] not in ("avgObjSize", "indexes", "shards"))
    place.note("All disks of this host completed %.0f writes a second during this load; published: %s operations a second of a server.",
               stats["writes"], place.published("petabyte load")["load"]["IOPS"])
    place.note("What follows was asked of %s documents of 322 bytes with the same fields, laid out and loaded in the"
               " same way: the article's values are in so few documents that large ones would be too many bytes for"
               " this host.", count(small))
    if tell_find(place, found, published):
        place.note("17000 is in no document here (4 of a million have it), so there is nothing to compare; the article has 7.17 billion.")
    tell_one(place, asked, below, published["FindOne/s"]["figure"])
    load_by_size(place)
    note_ratios(place, stats, found, small, published)
    place.note("What differs here: all shards, the router and the loaders share %d CPUs and one disk, so neither rates"
               " nor times are those of a cluster; WiredTiger compresses what it stores by snappy, which cannot make"
               " random letters shorter. The published sums look like those of a field with far fewer values than a million. Not"
               " made: the mix of reads and updates, which the article names as further work and gives no figures of.", os.cpu_count())
    best = max((one for one in asked if one["name"] == "one-by-value"), key=lambda one: one["ops_per_second"])
    place.conclude("%d loaders past the router load %.3g MB/s into all shards of this host (published: 844 MB/s into"
                   " each server), and %d clients find %.3g documents a second by the skewed value (published: a"
                   " little over 800 from the whole cluster).", shards,
                   stats["MB/s of a server"], best["clients"], best["ops_per_second"])
