"""livecluster: loads of a lab cluster. Each shard can be asked for what lies there, past the routers.

    class Placed(livecluster.Cluster):
        options = {"shards": 2, "replicas": 1, "routers": 1}

        def test_by_id(self):
            ...
            self.shares(self.load("a.csv"))
"""
import contextlib
import os
import shutil
import tempfile
import threading
import time

import clusters
import live
import livetest
import minimongo as mongo
import mongods


class Cluster(livetest.OwnServer):
    """Tests with a cluster of their own: `options` are those of clusters.start, `state` is what it gives."""
    options = {"shards": 2, "replicas": 1, "routers": 2}

    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp(prefix="cluster-", dir=os.getcwd())
        cls.addClassCleanup(shutil.rmtree, cls.home, True)
        cls.addClassCleanup(clusters.stop, cls.home, gently=False)
        try:
            cls.state = clusters.start(cls.home, tied=True, **cls.options)
        except mongods.Error as error:
            if "no labrouter" in str(error):
                raise livetest.unittest.SkipTest(str(error)) from error
            raise
        uri = cls.state["uri"]
        live.URI = uri if "/?" in uri else uri.rstrip("/") + "/?"  # tests run one after the other

    def shard_client(self, name):
        return clusters.client(self.state, [member for member in self.state["members"] if member["set"] == name])

    def on_shard(self, name, collection="results", **find):
        """The documents that lie on a shard, asked for behind the router's back."""
        with self.shard_client(name) as shard:
            return list(shard.find(self.database, collection, sort={"_id": 1}, **find))

    def names(self):
        return ["s%d" % number for number in range(self.options["shards"])]

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
        """No zone, no tag and no switch is left."""
        self.assertEqual(self.config("tags"), [])
        self.assertEqual([shard.get("tags", []) for shard in self.config("shards")], [[] for _ in self.names()])
        self.assertEqual([entry["_id"] for entry in self.config("collections") if entry.get("noBalance")], [])

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
