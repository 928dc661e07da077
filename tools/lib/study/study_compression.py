"""Compression, 2015: what each compressor of collections and of indexes saves, of five data sets."""
import os
import time

import shapes
from workplace import collection, count, empty_page_cache, say, time_of

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
    found = {}
    option = "--wiredTigerIndexPrefixCompression=%s" % ("true" if prefix else "false")
    with place.server(cache="512M", extra=(option,)) as server:
        with place.client(server) as client:
            for name, path in files.items():
                for compressor in COMPRESSORS:
                    own = "%s-%s" % (name, compressor)
                    uri = collection(server, "study." + own)
                    with place.meter() as cost:
                        loaded = place.load("json", uri, [path], "--create", '{"clusteredIndex": false}', "--compressor", compressor, "--index",
                                            shapes.SETS[name][2])
                    client.command("admin", {"fsync": 1})  # what is in memory has no size on disk
                    sizes = client.command("study", {"collStats": own})
                    found[name, compressor] = {
                        "seconds": loaded["seconds"], "cpu": cost.servers, "scan": scan_seconds(client, own, place.choose(3, 2, 1)),
                        "data": sizes["size"], "storage": sizes["storageSize"], "index": sizes["totalIndexSize"]}
                say("%s, index prefix %s: done", name, "on" if prefix else "off")
        server = place.restart_server(cache="512M", extra=(option,))
        with place.client(server) as client:
            for (name, compressor), one in found.items():
                emptied = empty_page_cache()
                with place.meter() as cost:
                    seconds = scan_seconds(client, "%s-%s" % (name, compressor), 1)
                one["cold"], one["read"] = (seconds, cost.read) if emptied else (None, None)
    return found


def run(place):
    chosen = list(shapes.SETS) if not place.tiny else ["configuration", "orders"]
    files = {name: data_of(place, name) for name in chosen}
    found = {prefix: measure(place, prefix, files) for prefix in (True, False)}
    place.tell("Five data sets with the keys that the study shows, made up here (%s), each with one index besides that of"
               " `_id`, on a standalone (%s). Saved: of the size without compression, which is the first row. The study"
               " published its figures as pictures; the one number in its text, 1406.92 MB, is of no named data set.",
               ", ".join("%s %s" % (count(sum(1 for _ in open(path, "rb"))), name) for name, path in files.items()),
               place.host())
    place.tell()
    for name in chosen:
        none = found[False][name, "none"]
        whole = none["storage"] + none["index"]
        rows = []
        for prefix in (False, True):
            for compressor in COMPRESSORS:
                one = found[prefix][name, compressor]
                size = one["storage"] + one["index"]
                rows.append([compressor, "prefix" if prefix else "none", *("%.1f" % (part / 1e6) for part in (
                    one["storage"], one["index"], size)), "%.0f %%" % (100 - 100 * size / whole), "%.2f" % (whole / size),
                    time_of(one["seconds"]), "%.2f s" % one["cpu"], time_of(one["scan"]), time_of(one["cold"]),
                    "-" if one["read"] is None else "%.1f" % (one["read"] / 1e6)])
        place.tell("%s, %.1f MB of BSON:", name, none["data"] / 1e6)
        place.tell()
        place.table(["collection", "indexes", "data MB", "index MB", "both MB", "saved", "none / this", "load", "server's CPU", "scan",
                     "scan from disk", "read MB"], rows, left=2)
    tell_ratios(place, chosen, found)


def tell_ratios(place, chosen, found):
    """Beside the ratio to no compression: what zlib and zstd are beside snappy, the default."""
    def of(name, compressor, key, prefix=True):
        one = found[prefix][name, compressor]
        return one["storage"] + one["index"] if key == "size" else one[key]
    place.tell("What carries over, by set; published as pictures only, so in words: both compressors and prefixes save, and zlib more than"
               " snappy.")
    place.tell()
    place.table(["ratio", *chosen], [[words, *("%.2f" % (of(name, over, key) / of(name, under, key)) for name in chosen)]
                                     for words, over, under, key in (
        ("size, snappy by none", "snappy", "none", "size"), ("size, zlib by snappy", "zlib", "snappy", "size"),
        ("size, zstd by zlib", "zstd", "zlib", "size"), ("load, zlib by snappy", "zlib", "snappy", "seconds"),
        ("load, zstd by zlib", "zstd", "zlib", "seconds"), ("scan of the cache, zlib by none", "zlib", "none", "scan"),
        ("scan from disk, zlib by none", "zlib", "none", "cold"))
        if all(of(name, over, key) and of(name, under, key) for name in chosen)])
    for prefix in (False, True):
        place.plot("Saved, of the size with no compression, indexes %s" % ("with prefixes" if prefix else "as they are"), chosen,
                   {compressor: [max(0, 100 - 100 * of(name, compressor, "size", prefix) / of(name, "none", "size", False))
                                 for name in chosen] for compressor in COMPRESSORS}, "percent", bars=True)
    place.tell("What differs on this host: the documents are made up with the study's keys, fewer than there, and all sets fit into"
               " memory; %d CPUs do the loader's and the server's work.", os.cpu_count())
