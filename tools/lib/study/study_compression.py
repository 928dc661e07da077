"""Compression, 2015: what each compressor of collections and of indexes saves, of five data sets and of random bytes."""
import time

import shapes
from workplace import collection, count, empty_page_cache, ratio, say, shown

ARTICLE = ("Compression: what the compressors save", "\"New Compression Options in MongoDB 3.0\", Asya Kamsky, 2015,"
           " https://www.mongodb.com/blog/post/new-compression-options-mongodb-30",
           "How much smaller do the compressors make collections and indexes, and what does that cost a load and a scan?")
COMPRESSORS = ("none", "snappy", "zlib", "zstd")


def data_of(place, name):
    path = place.data / ("%s-%d.json" % (name, place.documents(shapes.SETS[name][1], shapes.SETS[name][1] // 20, 300)))
    if not path.exists():
        say("making %s", path.name)
        shapes.write(name, int(path.stem.rpartition("-")[2]), path)
    return path


def scan_seconds(client, name, rounds):
    """The shortest of some, over every document."""
    times = []
    for _ in range(rounds):
        began = time.monotonic()
        list(client.aggregate("study", name, [{"$match": {"nobody has this key": 1}}, {"$count": "n"}]))
        times.append(time.monotonic() - began)
    return min(times)


def measure(place, prefix, files):
    found, words = {}, "prefixes" if prefix else "no prefixes"
    option = "--wiredTigerIndexPrefixCompression=%s" % ("true" if prefix else "false")
    with place.server(cache="512M", extra=(option,)) as server:
        with place.client(server) as client, place.meter("all loads, %s" % words) as all_of_it:
            for name, path in files.items():
                for compressor in COMPRESSORS:
                    own = "%s-%s" % (name, compressor)
                    uri = collection(server, "study." + own)
                    with place.meter() as cost:
                        loaded = place.load("json", uri, [path], "--create", '{"clusteredIndex": false}', "--compressor", compressor,
                                            "--index", shapes.SETS[name][2])
                    client.command("admin", {"fsync": 1})  # what is in memory has no size on disk
                    sizes = client.command("study", {"collStats": own})
                    all_of_it.number += loaded["loaded"]
                    found[name, compressor] = {
                        "seconds": loaded["seconds"], "cpu": cost.servers, "scan": scan_seconds(client, own, place.choose(3, 2, 1)),
                        "data": sizes["size"], "storage": sizes["storageSize"], "index": sizes["totalIndexSize"],
                        "size": sizes["storageSize"] + sizes["totalIndexSize"]}
                say("%s, %s: done", name, words)
        server = place.restart_server(cache="512M", extra=(option,))
        with place.client(server) as client:
            for (name, compressor), one in found.items():
                emptied = empty_page_cache()
                with place.meter():
                    seconds = scan_seconds(client, "%s-%s" % (name, compressor), 1)
                one["cold"] = seconds if emptied else None
    return found


def run(place):
    chosen = list(shapes.SETS) if not place.tiny else ["configuration", "orders", "random"]
    files = {name: data_of(place, name) for name in chosen}
    found = {prefix: measure(place, prefix, files) for prefix in (True, False)}
    place.note("Five data sets with the keys of the documents that the article shows, made up here, and random bytes"
               " (%s). Each has one"
               " index besides that of `_id`, on a standalone. The article published its figures as pictures; the"
               " one number in its text, 1406.92 MB, is of no named data set. Sizes are in MB; saved, of the size without any"
               " compression; CPU is the server's during the load.",
               ", ".join("%s %s" % (count(sum(1 for _ in open(path, "rb"))), name) for name, path in files.items()))
    saved = []
    for name in chosen:
        whole = found[False][name, "none"]
        each = [("none, none", whole), *(("%s, prefix" % compressor, found[True][name, compressor]) for compressor in COMPRESSORS)]
        place.note("%s, %.1f MB of BSON:", name, whole["data"] / 1e6, page=False)
        place.table(["collection, index", "data", "index", "both", "saved %", "load s", "CPU s"],
                    [[words, *("%.1f" % (one[key] / 1e6) for key in ("storage", "index", "size")),
                      "%.0f" % (100 - 100 * one["size"] / whole["size"]),
                      *(shown(one[key]) for key in ("seconds", "cpu"))]
                     for words, one in each], page=False)
        saved.append([name, "%.1f" % (whole["data"] / 1e6), *("%.0f" % (100 - 100 * one["size"] / whole["size"]) for _, one in each[1:])])
    place.note("Saved of data and indexes, in percent:")
    place.table(["documents", "MB of BSON", *("%s, prefix" % compressor for compressor in COMPRESSORS)], saved)
    note_ratios(place, chosen, found)


def note_ratios(place, chosen, found):
    """Next to the ratio to no compression: what zlib and zstd are to snappy, the default."""
    place.note("What carries over, by data set. Published in words: both compressors and prefixes save, and zlib more than snappy.")
    rows = [(words, [ratio(found[True][name, over][key], found[True][name, under][key]) for name in chosen])
            for words, over, under, key in (
                ("size, snappy by none", "snappy", "none", "size"), ("size, zlib by snappy", "zlib", "snappy", "size"),
                ("size, zstd by zlib", "zstd", "zlib", "size"), ("load, zlib by snappy", "zlib", "snappy", "seconds"),
                ("CPU of the load, zlib by snappy", "zlib", "snappy", "cpu"),
                ("load, zstd by zlib", "zstd", "zlib", "seconds"), ("cached scan, zlib by none", "zlib", "none", "scan"),
                ("disk scan, zlib by none", "zlib", "none", "cold"))]
    place.table(["ratio", *chosen], [[words, *row] for words, row in rows])
    for prefix in (False, True):
        place.plot("Saved, of the size with no compression, indexes %s" % ("with prefixes" if prefix else "as they are"), chosen,
                   {compressor: [max(0, 100 - 100 * found[prefix][name, compressor]["size"] / found[False][name, "none"]["size"])
                                 for name in chosen] for compressor in COMPRESSORS}, "percent", bars=True)
    place.leave_out([name for name in shapes.SETS if name not in chosen])
    place.note("What differs here: the documents are made up and fewer, and all sets fit into memory. Real mails quote each other,"
               " which random words do not, so theirs become smaller still.")
    of_snappy, seconds, cpu = (["%s to %s" % (row[0], row[-1]) for row in (sorted(rows[at][1], key=float) for at in (1, 3, 4))])
    place.conclude_counts("With zlib data and indexes have %s of the size that they have with snappy, and a load takes %s times the"
                          " seconds of the server's CPU.", of_snappy, cpu)
    place.conclude("A load takes %s times as long with zlib as with snappy.", seconds)
