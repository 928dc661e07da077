"""storing: what documents take on disk with each compressor, what writing them costs, and what indexes and a look at
every document take afterwards: the figures that `tools/plan` computes with. And the whole comparison, with clustered
collections and short keys, as `tipple tune --storage` makes it."""
import json
import os
import pathlib
import shlex

import figures
from compare import Outcome, every, interleave
from figures import Failed
from lab import BENCH, COLLECTION, DATABASE, ROOT, say

COLUMNS = ["", "server CPU, us/doc", "on disk / BSON", "journal and oplog / BSON", "scan, CPU, us/doc", "n"]
COMPRESSORS = ["none", "snappy", "zlib", "zstd"]
# of a format: the rows for each of the options' rows, indexes to build, what a look at everything groups by
# What `tune --storage` is shown of each kind: the format whose keys are spelled out, rows a trial for each of the
# options' rows. Each round of a kind's sixteen settings may take so many seconds.
TUNED = {"mot": ("mot-long", 0.2), "isd": ("isd", 0.04), "obd": ("obd", 0.04)}
ROUND_SECONDS = 18
COLD_SECONDS = 18  # of a kind, for the scans behind a restart
TUNED_COLUMNS = ["", "docs/s", "data, bytes/doc", "on disk, bytes/doc", "indexes, bytes/doc", "of data", "ratio",
                 "scan from cache, us/doc", "scan behind a restart, us/doc", "n"]
KINDS = {"mot": (1, [{"d": 1, "k": 1}, {"t": 1}], "$k"), "isd": (0.2, [{"ts": 1, "st": 1}, {"st": 1}], "$st")}


class Stored:
    """One load, and what it left behind; a document each."""

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
    with lab.server(options.cache) as server:
        tuned = tuned_table(lab, server, options)
    return Outcome([tuned, alone, replicated, built], [])


def tuned_table(lab, server, options):
    """One table of `tipple tune --storage` of all kinds: what a collection takes, and what that costs."""
    table = figures.Table("Compressor, clustered or plain, long or short keys: tipple tune --storage, standalone",
                          TUNED_COLUMNS)
    runs, tried, samples = [], {}, []
    for kind in TUNED:
        try:
            run, said = tried_out(lab, server, options, kind, ROUND_SECONDS * options.rounds, server)
        except Failed as failed:
            table.notes.append("%s: %s" % (kind, failed))
            continue
        runs.append(run)
        tried[kind] = said, figures.disturbed([run])
        samples.append("%s %s" % (figures.thousands(said["sample"]), kind))
    # the server's restarts come last, because nobody knows its processes afterwards
    cold = {kind: scans_behind_restarts(lab, server, options, kind, table) for kind in tried}
    for kind, (said, disturbed) in tried.items():
        for setting in said["settings"]:
            table.add(*tuned_row(kind, setting, cold[kind], disturbed))
    table.notes[:0] = [
        "records a trial: %s; n trials of each setting, in an order drawn anew each round" % ", ".join(samples),
        "docs/s: mean and 95 % confidence interval, the checkpoint behind the load included; a scan is the second look "
        "at every document, or the first one behind a restart of the server (the cache of the operating system stays): "
        "median and middle half", figures.others_note(runs)]
    return table


def tried_out(lab, server, options, kind, seconds, watched, *more):
    """The run of a `tune --storage`, and what it said."""
    form, share = TUNED[kind]
    sample = max(500, int(options.rows * share))
    file = lab.rows(sample, kind)
    lab.warm(file)
    words = [lab.tipple, "tune", "--storage", "--json", "--quiet", "--format", form, "--uri", server.namespace_uri,
             "--sample", sample, "--budget", "%ds" % seconds, *more, file]
    run = lab.run(words, sample, watched)
    said = json.loads(run.output)
    say("  %s: %d trials in %.0f s", kind, said["trials"], said["seconds"])
    return run, said


def scans_behind_restarts(lab, server, options, kind, table):
    """By compressor, of clustered collections with long keys."""
    tool, folder = ROOT / "tools/server", BENCH / "server"
    again = [tool, "up", "--dir", folder, "--port", server.port, "--cache", options.cache, "--owner", os.getpid()]
    restart = "%s && %s" % (shlex.join(map(str, [tool, "down", "--dir", folder])), shlex.join(map(str, again)))
    try:
        _, said = tried_out(lab, server, options, kind, COLD_SECONDS, None, "--clustered", "--keys", "long",
                            "--precision", "1%", "--cold", restart)
    except Failed as failed:
        table.notes.append("%s, scans behind a restart: %s" % (kind, failed))
        return {}
    return {setting["compressor"]: setting for setting in said["settings"]}


def tuned_row(kind, setting, cold, disturbed):
    """Sizes hardly scatter; speeds do, and are shown only where they can be told."""
    name = "%s, %s keys, %s, %s" % (kind, setting["keys"], "clustered" if setting["clustered"] == "yes" else "plain",
                                    setting["compressor"])
    if setting["trials"] < 2:
        return (name, *["failed"] * 8, setting["trials"])
    documents = setting["documents"] / setting["trials"]
    rate = trusted([setting[key] for key in ("docs_per_second", "low", "high")], disturbed, setting["trials"],
                   figures.thousands)
    return (name, rate, "%.0f" % (setting["data_bytes"] / documents), "%.0f" % (setting["storage_bytes"] / documents),
            "%.1f" % (setting["index_bytes"] / documents), figures.percent(setting["share"]), figures.times(setting["ratio"]),
            scan(setting, "scan_cache", disturbed), scan(cold[setting["compressor"]], "scan_disk", disturbed)
            if setting["clustered"] == "yes" and setting["keys"] == "long" and cold else "-", setting["trials"])


def scan(setting, which, disturbed):
    if setting["trials"] < 2:
        return "failed"
    documents = setting["documents"] / setting["trials"]
    return trusted([setting["%s_%s" % (which, part)] / documents for part in ("seconds", "low", "high")], disturbed,
                   setting["trials"], figures.micro)


def trusted(told, disturbed, trials, unit):
    value, low, high = told
    spread = "%s to %s" % (unit(low), unit(high))
    if high - low > 2 * figures.NOISY * value:
        return "too noisy (%s)" % spread
    return "%s%s (%s)" % ("~" if disturbed or trials < figures.FEW else "", unit(value), spread)


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
