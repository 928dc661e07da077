"""Compression, 2015: what each compressor of collections and of indexes saves, of five data sets."""
import time

import shapes
from workplace import count, say, time_of

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
                    collection = "%s-%s" % (name, compressor)
                    uri = server.partition("/?")[0] + "/study." + collection
                    loaded = place.run("load", "-f", "json", "--uri", uri, "-q", "--json", "--no-clustered", "--compressor",
                                       compressor, "--index", shapes.SETS[name][2], path)
                    client.command("admin", {"fsync": 1})  # what is in memory has no size on disk
                    sizes = client.command("study", {"collStats": collection})
                    found[name, compressor] = {
                        "seconds": loaded["seconds"], "scan": scan_seconds(client, collection, place.choose(3, 2, 1)),
                        "data": sizes["size"], "storage": sizes["storageSize"], "index": sizes["totalIndexSize"]}
                say("%s, index prefix %s: done", name, "on" if prefix else "off")
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
                    time_of(one["seconds"]), time_of(one["scan"])])
        place.tell("%s, %.1f MB of BSON:", name, none["data"] / 1e6)
        place.tell()
        place.table(["collection", "indexes", "data MB", "index MB", "both MB", "saved", "none / this", "load", "scan"], rows,
                    left=2)
