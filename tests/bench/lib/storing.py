"""storing: what documents take on disk with each compressor, what writing them costs, and what indexes and a scan of
all documents take afterwards."""
import pathlib

import figures
from compare import Outcome, every, interleave
from figures import Failed
from lab import COLLECTION, DATABASE

COLUMNS = ["", "server CPU, us/doc", "on disk / BSON", "journal and oplog / BSON", "scan, CPU, us/doc", "n"]
COMPRESSORS = ["none", "snappy", "zlib", "zstd"]
# of a format: the rows for each of the options' rows, indexes to build, what the scan groups by
KINDS = {"mot": (1, [{"d": 1, "k": 1}, {"t": 1}], "$k"), "isd": (0.2, [{"ts": 1, "st": 1}, {"st": 1}], "$st")}


class Stored:
    """One load, and what it left there; a document each."""

    def __init__(self, run, bson_bytes, stored, written):
        self.run, self.bson = run, bson_bytes
        self.others, self.cpu_room = run.others, run.cpu_room
        self.ratio, self.log_ratio = stored / bson_bytes, (written - stored) / bson_bytes
        self.server_each = run.server_each
        self.indexes, self.scan_each = {}, None


def storage(lab, options):
    """tools/bench storage: each compressor on a standalone, and the usual one on a replica set of one."""
    everything = []
    alone = figures.Table("Storage: standalone", COLUMNS)
    replicated = figures.Table("Storage: replica set of one", COLUMNS)
    built = figures.Table("Indexes after the load, standalone", ["", "server CPU, us/doc", "bytes/entry", "n"])
    for table, compressors, more in ((alone, COMPRESSORS, {}), (replicated, ["snappy"], {"replset": 1})):
        with lab.server(options.cache, **more) as server:
            for kind in KINDS:
                runs = kind_on(lab, server, options, kind, compressors, table)
                everything += every(runs)
                if table is alone:
                    add_indexes(built, kind, runs["snappy"])
    alone.notes[:0] = ["%s MOT rows, %s weather records; the scan is a $group" % (
        figures.thousands(options.rows), figures.thousands(rows_of("isd", options))), figures.others_note(everything)]
    for table in (alone, replicated):
        table.on_page(COLUMNS[1:4])
    return Outcome([alone, replicated, built], [])


def rows_of(kind, options):
    return max(1000, int(options.rows * KINDS[kind][0]))


def kind_on(lab, server, options, kind, compressors, table):
    ways = {name: (lambda name=name: stored(lab, server, kind, rows_of(kind, options), name)) for name in compressors}
    runs, reasons = interleave(options.rounds, ways, described)
    table.notes += reasons
    for name, of in runs.items():
        settings = [figures.of_runs(of, lambda run, field=field: getattr(run, field)).text(unit) for field, unit in (
            ("server_each", figures.micro), ("ratio", figures.times), ("log_ratio", figures.times),
            ("scan_each", figures.micro))]
        table.add("%s, %s" % (kind, name), *settings, len(of))
    return runs


def add_indexes(table, kind, runs):
    for key in [", ".join(keys) for keys in KINDS[kind][1]]:
        settings = [figures.of_runs(runs, lambda run, at=at: run.indexes[key][at]).text(unit)
                 for at, unit in ((0, figures.micro), (1, figures.times))]
        table.add("%s, %s" % (kind, key), *settings, len(runs))


def described(of):
    return "%s us of server CPU, %.3g on disk" % (figures.micro(of.server_each), of.ratio)


def written_by(pids):
    """What these processes have had written to disk."""
    lines = [line for pid in pids for line in pathlib.Path("/proc/%d/io" % pid).read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))


def cpu_during(server, work):
    """Of the server: what both take of one core, however busy the others are."""
    before = server.cpu()[0]
    work()
    return server.cpu()[0] - before


def stored(lab, server, kind, rows, compressor):
    _, keys, group = KINDS[kind]
    file = lab.rows(rows, kind)
    lab.warm(file)
    server.fresh()
    before = written_by(server.pids)
    run = lab.run([lab.tipple, "load", "--format", kind, "--uri", server.namespace_uri, "--compressor", compressor,
                   "--quiet", file], rows, server)
    written = written_by(server.pids) - before
    stats = server.client.command(DATABASE, {"collStats": COLLECTION})
    if not stats["count"]:
        raise Failed("nothing was loaded")
    of = Stored(run, stats["size"], stats["storageSize"], written)
    pipeline = [{"$group": {"_id": group, "n": {"$sum": 1}}}]
    of.scan_each = cpu_during(server, lambda: list(server.client.aggregate(DATABASE, COLLECTION, pipeline))) / rows
    for key in keys if compressor == "snappy" else ():
        name = ", ".join(key)
        command = {"createIndexes": COLLECTION, "indexes": [{"key": key, "name": name}]}
        took = cpu_during(server, lambda command=command: server.client.command(DATABASE, command)) / rows
        size = server.client.command(DATABASE, {"collStats": COLLECTION})["indexSizes"][name]
        of.indexes[name] = (took, size / rows)
    return of
