"""livecluster: loads of a lab cluster. Each shard can be asked for what lies there, past the routers.

    class Placed(livecluster.Cluster):
        def test_by_id(self):
            ...
            self.shares(self.load("a.csv"))
"""
import contextlib
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

import clusters
import live
import livetest
import minimongo as mongo
import pool
import procs

LABROUTER = os.environ.get("TIPPLE_LABROUTER") or str(pathlib.Path(live.TIPPLE).parent / "tools/labrouter")
BUSY = 46, 117  # LockBusy, ConflictingOperationInProgress


def patient(command, database, words, *more):
    """A move waits for those of other tests: a shard takes part in one at a time."""
    while True:
        try:
            return command(database, words, *more)
        except mongo.CommandError as error:
            if error.code not in BUSY or not {"moveChunk", "moveRange"} & set(words):
                raise
            time.sleep(0.05)


def start_router(state, *words, number=0):
    """Starts one more router of a cluster, which ends with this process at the latest. Returns its process and its port."""
    command = clusters.labrouter_command(pathlib.Path(state["folder"]), state, LABROUTER, number)
    process = subprocess.Popen([*command, "--port", "0", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, preexec_fn=procs.tied_to_parent())
    line = process.stdout.readline()
    if not line.startswith("labrouter listens on 127.0.0.1:"):
        raise AssertionError("%r %s" % (line, process.stderr.read()))
    return process, int(line.rpartition(":")[2])


class Cluster(livetest.Case):
    """Tests with the pool's cluster. `routers`: how many of its routers the URI names; all of them unless given."""
    server = "cluster"
    routers = router_uri = None

    @classmethod
    def use(cls, state):
        routers = [member for member in state["members"] if member["role"] == "router"]
        super().use({**state, "uri": clusters.uri(state, routers[:cls.routers]), "kind": "cluster"})

    def setUp(self):
        super().setUp()
        self.client.command = functools.partial(patient, self.client.command)

    def own_router(self):
        """From now on the test's URI names a router that no other test uses, so that it may be ordered to fail."""
        process, port = start_router(self.state)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        router = clusters.uri(self.state, [{"port": port, "set": None}])
        self.router_uri = router if "/?" in router else router.rstrip("/") + "/?"

    def uri(self, collection="results"):
        return live.with_path(self.router_uri or live.URI, "%s.%s" % (self.database, collection))

    def faults(self, **words):
        """Has the router, which no other test may use, do something wrong."""
        with mongo.Client(self.router_uri or live.URI) as client:
            client.command("admin", {"labrouter": 1, **words})

    def shard_client(self, name):
        return clusters.client(self.state, [member for member in self.state["members"] if member["set"] == name])

    def on_shard(self, name, collection="results", **find):
        """The documents that lie on a shard, asked for past the router."""
        with self.shard_client(name) as shard:
            return list(shard.find(self.database, collection, sort={"_id": 1}, **find))

    def names(self):
        return ["s%d" % number for number in range(self.state["settings"]["shards"])]

    def shares(self, counts, collection="results"):
        """What the load says of each shard is what lies there."""
        there = {}
        for name in self.names():
            with self.shard_client(name) as shard:
                there[name] = shard.count(self.database, collection)
        self.assertEqual({shard["name"]: shard["documents"] for shard in counts["shards"]}, there)
        return there

    def config(self, collection, **find):
        return list(self.client.find("config", collection, **find))

    def chunks(self, collection="results"):
        """In their order, each with its min, max and shard."""
        entry, = self.config("collections", filter={"_id": "%s.%s" % (self.database, collection)})
        return self.config("chunks", filter={"uuid": entry["uuid"]}, sort={"min": 1})

    def clean(self):
        """No zone, no tag and no switch of this test's database is left."""
        ours = {"$regex": "^%s[.]" % self.database}
        self.assertEqual(self.config("tags", filter={"ns": ours}), [])
        self.assertEqual([tag for shard in self.config("shards") for tag in shard.get("tags", []) if self.database in tag], [])
        self.assertEqual(self.config("collections", filter={"_id": ours, "noBalance": True}), [])

    @contextlib.contextmanager
    def moving(self, *places):
        """Chunks go to and fro meanwhile, each by (owner, an `_id` in it), again and again: gives the list of the owners that
        have got one."""
        over, moved = threading.Event(), []

        def move():
            client = mongo.Client(live.URI)
            while not over.is_set():
                for owner, place in places:
                    try:
                        client.command("admin", {"moveChunk": "%s.results" % self.database,
                                                 "find": {"_id": mongo.Int64(place)}, "to": owner})
                        moved.append(owner)
                    except mongo.Error:
                        time.sleep(0.05)  # not sharded yet, busy, or there already
            client.close()

        mover = threading.Thread(target=move)
        mover.start()
        try:
            yield moved
        finally:
            over.set()
            mover.join()


class OwnCluster(Cluster, livetest.OwnServer):
    """Tests with a cluster of their own: `options` are those of clusters.start, `state` is what it gives."""
    options = {"shards": 2, "replicas": 1, "routers": 2}

    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp(prefix="cluster-", dir=os.getcwd())
        cls.addClassCleanup(shutil.rmtree, cls.home, True)
        cls.use(pool.start(cls.home, cls.options, tied=True))
        cls.addClassCleanup(clusters.stop, cls.home, gently=False)
