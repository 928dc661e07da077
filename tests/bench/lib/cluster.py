"""cluster: loads of sharded clusters next to a load of one server, and next to replays into the same clusters.

All of them run side by side on this machine: what more shards cost is shown by the CPU per document, and how close a
load comes to what its cluster can take by the ratio to the replay. The collection of a replay is placed by the same
public commands as a load's.
"""
import argparse
import json

import figures
from clusterlab import Cluster, build_router, of_megabytes, one_server, running
from compare import Loaders, Outcome, every, interleave, share_target
from figures import Failed, Table, Target

ALONE = "one server: load"
SHARE, GROWTH = 0.90, 0.05e-6
PLACED, PLACE_SECONDS = 64, 1.0


class ClusterLoaders(Loaders):
    def _settings(self):
        """More shards are given more threads, which only a load finds out: a small one, which also says what any load
        takes at the least."""
        self.server.fresh()
        run = self.lab.run(self.load_words(self.lab.rows(100, self.format)), 100)
        self.least_seconds, said = run.seconds, json.loads(run.output)
        return said["threads"], said["batch"]

    def replay(self, how):
        self.server.fresh()
        self.server.place(self.server.names)
        self.server.unplace()
        return self.replayed(["--connections", self.threads, "--majority", *self.server.replay_words(how)])


# ----------------------------------------------------------------------------------------- loads and replays

def contenders_of(lab, one, states, options):
    """All runs of a round by name, "ARRANGEMENT: load" and the like; and notes on them."""
    alone = Loaders(lab, one, options)
    runs = {ALONE: alone.tipple,
            "one server: replay": lambda: alone.replay(alone.threads, majority=True)}
    threads, least = {"one server": alone.threads}, {}
    for shards, state in states.items():
        for routers in (1, 2):
            through = ClusterLoaders(lab, Cluster(state, routers), options)
            name = "%d shards, %d router%s: " % (shards, routers, "" if routers == 1 else "s")
            runs[name + "load"] = through.tipple
            runs[name + "replay"] = lambda through=through: through.replay("single")
            if routers == 1:
                runs[name + "replay, mixed"] = lambda through=through: through.replay("mixed")
                threads["%d shards" % shards], least["%d shards" % shards] = through.threads, through.least_seconds
        name = "%d shards, direct: " % shards
        runs[name + "load"] = lambda through=through: through.tipple(more=["--direct"])
        runs[name + "replay"] = lambda through=through: through.replay("direct")
    return runs, ["threads and connections: %s" % ", ".join("%s %d" % pair for pair in threads.items()),
                  "a load of 100 rows takes, start, placing and end: %s" % ", ".join(
                      "%s %.2f s" % pair for pair in least.items())]


def check_same(contenders, servers):
    """One short run of each, not measured: do they all put the same documents on the same shards?"""
    digests = {}
    for name, once in contenders.items():
        try:
            once()
        except Failed:
            continue  # it will say so in its measured run
        where = name.partition(",")[0].partition(":")[0]
        digests.setdefault(where, {})[name] = servers[where].digest()
    for each in digests.values():
        if any(digest != next(iter(each.values())) for digest in each.values()):
            raise Failed("not all put the same documents on the same shards: %s" % each)


def arrangements_of(runs):
    return list(dict.fromkeys(name.partition(": ")[0] for name in runs))


def cost_table(title, runs, notes):
    table = Table(title, ["", "documents/s", "client CPU, us/doc", "more than one server's", "server CPU, us/doc",
                          "router CPU, us/doc", "documents a batch", "least busy shard", "n"], notes)
    for name, each in runs.items():
        def cell(function, unit, wanted=True):
            return figures.of_runs(each, function).text(unit) if wanted else ""
        if not name.endswith("load"):
            continue  # ratio_table has the replays
        table.add(name, cell(lambda run: run.rate, figures.thousands), cell(lambda run: run.client_each, figures.micro),
                  more_client(runs, name).text(figures.micro) if name != ALONE else "",
                  cell(lambda run: run.server_each, figures.micro),
                  cell(lambda run: run.router_each, figures.micro, "router" in name),
                  cell(batch_size, figures.times), cell(least_busy, figures.percent),
                  figures.of_runs(each, lambda run: run.rate).n)
    table.on_page(["documents/s", "client CPU, us/doc", "server CPU, us/doc"])
    return table


def more_client(runs, name, base=ALONE):
    """What a load costs the client more than a load of one server in the same round."""
    alone = figures.of_runs(runs[base], lambda run: run.client_each)
    return figures.of_pairs(runs[name], runs[base], lambda a, b: a.client_each - b.client_each,
                            scale=alone.median if alone.n else None)


def batch_size(run):
    said = json.loads(run.output)
    return said["loaded"] / said["batches"]


def least_busy(run):
    """The share of the load's time in which the shard that had the least to do had a batch."""
    said = json.loads(run.output)
    return min(shard.get("busy_seconds", 0) for shard in said["shards"]) / said["seconds"]


def ratio_table(runs):
    """Pair by pair within a round."""
    table = Table("Ratios, within a round", [
        "", "load / replay, documents/s", "load / one server's load, documents/s",
        "mixed / single-shard batches, documents/s", "mixed / single-shard batches, server CPU"])
    for name in arrangements_of(runs):
        load, replay, mixed = (runs.get(name + what) for what in (": load", ": replay", ": replay, mixed"))

        def cell(first, second, function):
            return figures.of_pairs(first, second, function).text(figures.times) if first else ""

        def rates(first, second):
            return cell(first, second, lambda a, b: a.rate / b.rate)
        table.add(name, rates(load, replay), "" if name == "one server" else rates(load, runs[ALONE]),
                  rates(mixed, replay), cell(mixed, replay, lambda a, b: a.server_cpu / b.server_cpu))
    table.on_page(table.header[1:2])
    return table


def loads(lab, options, router):
    """One server, and 2 and 4 shards by every way. Gives tables, targets, and the times of placing."""
    with one_server(lab, options.cache) as one, running(lab, 2, 2, options.cache) as two, \
            running(lab, 4, 2, options.cache) as four:
        states = {2: two, 4: four}
        short = argparse.Namespace(**{**vars(options), "rows": max(1000, options.rows // 10)})
        servers = {"one server": one, **{"%d shards" % shards: Cluster(state) for shards, state in states.items()}}
        check_same(contenders_of(lab, one, states, short)[0], servers)
        contenders, notes = contenders_of(lab, one, states, options)
        runs, reasons = interleave(options.rounds, contenders)
        times = placing(Cluster(two), 2 if options.quick else 5)
    notes = ["%s MOT rows, batches of 1000, every batch with w: majority, j: true; interleaved" % (
                 figures.thousands(options.rows)), *notes,
             "cache: %s, divided among the shards; the router is %s%s" % (
                 options.cache, router, ", so that the routing is server CPU" if router == "labrouter" else ""),
             "server CPU is that of all mongods",
             figures.others_note(every(runs)), *reasons]
    targets = [share_target("%s: a load reaches %.0f %% of the replay or more" % (name, SHARE * 100),
                            runs[name + ": load"], runs[name + ": replay"], SHARE)
               for name in arrangements_of(runs) if name != "one server"]
    return [cost_table("Sharded clusters, and one server", runs, notes), ratio_table(runs)], targets, times


# ------------------------------------------------------------------------------------------ from 1 to 8 shards

def growth(lab, options):
    """One server, and 8 shards. Longer runs, in which the beginning and the end weigh less: a small difference of CPU is
    looked for. More shards get more threads, which cost by themselves, on one server as on eight: both are shown."""
    options = argparse.Namespace(**{**vars(options), "rows": 2 * options.rows})
    with one_server(lab, options.cache) as one, running(lab, 8, 1, options.cache) as eight:
        alone, many = Loaders(lab, one, options), ClusterLoaders(lab, Cluster(eight), options)
        alone.tipple()
        many.tipple()  # not measured: warms the servers up
        name, base = "8 shards, 1 router: load", "one server, %d threads: load" % many.threads
        runs, reasons = interleave(options.rounds, {
            ALONE: alone.tipple, base: lambda: alone.tipple(more=["-j", str(many.threads)]), name: many.tipple})
    table = cost_table("8 shards, and one server", runs, [
        "%s MOT rows; 8 shards with %s of cache each; threads: one server %d, 8 shards %d" % (
            figures.thousands(options.rows), of_megabytes(options.cache, 8), alone.threads, many.threads),
        figures.others_note(every(runs)), *reasons])
    table.on_page(rows=[])
    promise = "client CPU of a load with %d threads grows by at most %.2f us a document from 1 to 8 shards" % (
        many.threads, GROWTH * 1e6)
    return [table], [Target(promise, more_client(runs, name, base), figures.micro, most=GROWTH)]


# ------------------------------------------------------------------------------------- placement, and the map

def placing(server, rounds):
    """Seconds to set the zones of 64 shards and to shard by them, and to take the zones away; each time anew."""
    times = []
    for _ in range(rounds):
        server.fresh()
        times.append((server.place([server.names[number % len(server.names)] for number in range(PLACED)]),
                      server.unplace()))
    server.fresh()
    return times


def placing(times):
    """The times of placing."""
    set_up, taken = (figures.Figures([pair[number] for pair in times]) for number in (0, 1))
    table = Table("Placing", ["", "ms", "n"], [
        "the public commands of a load, sent by the bench: addShardToZone and updateZoneKeyRange for each of %d ranges, then "
        "shardCollection; on a cluster of 2 shards" % PLACED])
    table.on_page(rows=[])
    table.add("placing %d ranges" % PLACED, set_up.text(figures.milli), set_up.n)
    table.add("taking their zones away", taken.text(figures.milli), taken.n)
    return [table], [Target("placing %d shards' worth of zones: under %.0f s" % (PLACED, PLACE_SECONDS), set_up,
                            figures.seconds, most=PLACE_SECONDS)]


def cluster(lab, options):
    """tools/bench cluster: all of it."""
    router = build_router(lab)
    tables, targets, times = loads(lab, options, router)
    for part in (growth(lab, options), placing(times)):
        tables, targets = tables + part[0], targets + part[1]
    return Outcome(tables, targets)
