"""clusterlab: the lab clusters that are measured, and the one server next to them."""
import contextlib
import os
import shutil
import time

import clusters
import minimongo as mongo
import mongods
from figures import Failed
from lab import BENCH, COLLECTION, DATABASE, Server, cpu_of, say

NAMESPACE = "%s.%s" % (DATABASE, COLLECTION)
LANES, LANE_BITS = 1024, 53  # docs/sharding.md: shards get even ranges of the lanes


class Cluster(Server):
    """A lab cluster, seen through some of its routers."""

    def __init__(self, state, routers=1):
        members = state["members"]
        self.routers = [member for member in members if member["role"] == "router"][:routers]
        uri = clusters.uri(state, self.routers)
        self.uri = uri if "/?" in uri else uri + "?"
        self.pids = [member["pid"] for member in members if member["role"] != "router"]
        self.router_pids = [member["pid"] for member in members if member["role"] == "router"]
        self.ports = {member["set"]: member["port"] for member in members if member["role"] == "shard"}
        self.names = list(self.ports)
        self.client = mongo.Client(self.uri, timeout=600)
        self.clients = [clusters.client(state, [member]) for member in members if member["role"] == "shard"]

    def cpu(self):
        return cpu_of(self.pids), cpu_of(self.router_pids)

    def settle(self):
        for client in self.clients:
            client.command("admin", {"fsync": 1})

    def digest(self):
        return [client.command(DATABASE, {"dbHash": 1, "collections": [COLLECTION]})["collections"][COLLECTION]
                for client in self.clients]

    # -------------------------------------------------------------------------------------------- placement

    def place(self, owners):
        """An empty clustered collection with one chunk for each of the owners; the seconds that it took from the first
        zone on. The zones stay until unplace()."""
        ends = [mongo.MinKey, *(mongo.Int64(number * LANES // len(owners) << LANE_BITS)
                                for number in range(1, len(owners))), mongo.MaxKey]
        self.zones = [("bench.%d" % number, owner, {"_id": ends[number]}, {"_id": ends[number + 1]})
                      for number, owner in enumerate(owners)]
        self.client.command(DATABASE, {"create": COLLECTION, "clusteredIndex": {"key": {"_id": 1}, "unique": True}})
        start = time.monotonic()
        for zone, owner, low, high in self.zones:
            self.client.command("admin", {"addShardToZone": owner, "zone": zone})
            self.client.command("admin", {"updateZoneKeyRange": NAMESPACE, "min": low, "max": high, "zone": zone})
        self.client.command("admin", {"shardCollection": NAMESPACE, "key": {"_id": 1}})
        took = time.monotonic() - start
        there = [chunk["shard"] for chunk in self.chunks()[1]]
        if there != list(owners):
            raise Failed("the chunks were not made in their places: %s" % there)
        return took

    def unplace(self):
        start = time.monotonic()
        for zone, owner, low, high in self.zones:
            self.client.command("admin", {"updateZoneKeyRange": NAMESPACE, "min": low, "max": high, "zone": None})
            self.client.command("admin", {"removeShardFromZone": owner, "zone": zone})
        return time.monotonic() - start

    def chunks(self):
        """The collection's entry in config.collections, and its chunks in their order."""
        entry = next(self.client.find("config", "collections", {"_id": NAMESPACE}))
        return entry, list(self.client.find("config", "chunks", {"uuid": entry["uuid"]}, sort={"min": 1}))

    def replay_words(self, how):
        """What the replay has to know: where the ranges begin, and where their messages go."""
        entry, chunks = self.chunks()
        cut = ["--cut", ",".join("%d" % chunk["min"]["_id"] for chunk in chunks[1:])]
        if how != "direct":
            ports = [word for member in self.routers for word in ("--port", member["port"])]
            return cut + ports + (["--mixed"] if how == "mixed" else [])
        self.count()  # shards learn what they own when a router asks them
        for chunk in chunks:
            version = mongo.encode({"e": entry["lastmodEpoch"], "t": entry["timestamp"], "v": chunk["lastmod"]})
            cut += ["--port", self.ports[chunk["shard"]], "--shard-version", version.hex()]
        return cut + ["--direct"]


# -------------------------------------------------------------------------------------------------- starting them

def of_megabytes(cache, shards):
    return "%dM" % (mongods.size(cache) / shards / (1 << 20))


@contextlib.contextmanager
def one_server(lab, cache):
    """Keeps a journal like the clusters' members."""
    with lab.server(cache, replset=1, extra=["--wiredTigerEngineConfigString", clusters.JOURNAL]) as server:
        yield server


@contextlib.contextmanager
def running(lab, shards, routers, cache):
    """A lab cluster whose shards have together the cache of the one server."""
    folder = BENCH / ("cluster%d" % shards)
    shutil.rmtree(folder, ignore_errors=True)
    say("  a cluster of %d shards", shards)
    try:
        yield clusters.start(folder, tied=True, shards=shards, routers=routers, cache=of_megabytes(cache, shards))
    finally:
        if clusters.clusterdir.read_state(folder):
            clusters.stop(folder, gently=False)
        shutil.rmtree(folder, ignore_errors=True)


def build_router(lab):
    """Where there is no mongos: the lab's own, as fast as the compiler makes it."""
    with contextlib.suppress(mongods.Error):
        if clusters.find_programs({**clusters.DEFAULTS, "router": "mongos"}):
            return "mongos"
    os.environ.setdefault("TIPPLE_LABROUTER", str(lab.target("labrouter", "tools")))
    return "labrouter"
