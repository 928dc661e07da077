"""tools/labrouter: what live.cluster.contract_test, which holds what it answers, does not see: faults, many
clients, and chunks that move.   needs: none; nightly: a test of a tool

A small cluster is formed here from mongods alone (a config server and two shards, of one member each); what the
router should have done is read from the shards themselves."""
import contextlib
import os
import signal
import sys
import threading
import time
import unittest

import clusters
import livetest
import minimongo as mongo
import pool
from livecluster import LABROUTER, start_router

NAMES = ("cfg", "s0", "s1")


class Routed(unittest.TestCase):
    maxDiff = 3000

    @classmethod
    def setUpClass(cls):
        cls.state = pool.own(shards=2, routers=0)
        cls.process, cls.port = start_router(cls.state)

    @classmethod
    def tearDownClass(cls):
        """Nobody has to ask twice, and a sanitizer has nothing to say."""
        cls.process.send_signal(signal.SIGTERM)
        said = cls.process.communicate(timeout=livetest.LONG)
        assert cls.process.returncode == 0 and not said[1], said

    def setUp(self):
        self.client = self.join()
        self.command = self.client.command
        self.command("admin", {"labrouter": 1, "clear": True})
        self.command("mot", {"dropDatabase": 1})

    def join(self, port=None):
        uri = clusters.uri(self.state, [{"port": port or self.port, "set": None}])
        client = mongo.Client(uri, timeout=livetest.LONG)
        self.addCleanup(client.close)
        return client

    def router(self, *words, number=0):
        process, port = start_router(self.state, *words, number=number)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process, port

    def straight(self, name):
        """A client of the primary of a set."""
        return clusters.client(self.state, clusters.select(self.state, [name]))

    def host(self, name):
        return clusters.address(*clusters.select(self.state, [name]))

    def admin(self, **command):
        return self.command("admin", command)

    def refused(self, code, database, command, words=""):
        with self.assertRaises(mongo.CommandError) as caught:
            self.client.command(database, command)
        self.assertEqual(code, caught.exception.code, caught.exception)
        self.assertRegex(str(caught.exception), words or ".")

    def on(self, shard, collection="tests"):
        """The _ids that a shard itself has."""
        with self.straight(shard) as client:
            return sorted(document["_id"] for document in client.find("mot", collection, projection={"_id": 1}))

    def sharded(self, at=0):
        """mot.tests, clustered, below `at` on s0 and from there on s1, placed by zones."""
        self.admin(enableSharding="mot", primaryShard="s0")
        self.command("mot", {"create": "tests", "clusteredIndex": {"key": {"_id": 1}, "unique": True},
                             "storageEngine": {"wiredTiger": {"configString": "block_compressor=zstd"}}})
        for shard, low, high in (("s0", mongo.MinKey, at), ("s1", at, mongo.MaxKey)):
            self.admin(addShardToZone=shard, zone="on_" + shard)
            self.admin(updateZoneKeyRange="mot.tests", min={"_id": low}, max={"_id": high}, zone="on_" + shard)
        self.admin(shardCollection="mot.tests", key={"_id": 1})
        for low, high in ((mongo.MinKey, at), (at, mongo.MaxKey)):
            self.admin(updateZoneKeyRange="mot.tests", min={"_id": low}, max={"_id": high}, zone=None)


class Commands(Routed):

    def test_what_it_cannot_do_it_says(self):
        self.refused(59, "admin", {"nonsense": 1}, "no such command")
        for name in ("removeShard", "renameCollection", "movePrimary", "reshardCollection", "commitTransaction"):
            self.refused(115, "admin", {name: "s0"})
        self.refused(115, "mot", {"insert": "tests", "documents": [{"_id": 1}], "startTransaction": True,
                                  "autocommit": False, "txnNumber": mongo.Int64(1)}, "transactions")
        self.refused(115, "mot", {"aggregate": 1, "pipeline": [{"$changeStream": {}}], "cursor": {}}, "change streams")
        self.refused(115, "config", {"drop": "tags"}, "database config")
        self.refused(9, "admin", {"shardCollection": "mot.tests"}, "key")
        self.refused(73, "admin", {"shardCollection": "mot", "key": {"_id": 1}})

    def test_a_chunk_that_moves_behind_its_back(self):
        """two routers: what one moves, the other finds"""
        self.sharded()
        _, port = self.router(number=1)
        other = self.join(port)
        self.client.insert("mot", "tests", [{"_id": 1}])
        for number, shard in enumerate(("s0", "s1") * 3, 2):
            other.command("admin", {"moveChunk": "mot.tests", "find": {"_id": 1}, "to": shard})
            self.assertEqual(1, self.client.insert("mot", "tests", [{"_id": number}]))
            self.assertEqual(number, self.client.count("mot", "tests"))
            self.assertEqual(number, self.command("mot", {"count": "tests", "query": {"_id": {"$gt": 0}}})["n"])
        other.command("mot", {"drop": "tests"})
        self.assertEqual(0, self.client.count("mot", "tests"))


class Faults(Routed):
    def insert(self, *ids):
        return {"insert": "tests", "documents": [{"_id": each} for each in ids]}

    def test_the_mongod_that_routes_fails(self):
        """an election, then a crash: another shard's primary routes"""
        self.sharded()
        self.command("mot", self.insert(-1, 1))
        with self.straight("s0") as straight:
            with contextlib.suppress(mongo.Error, OSError):
                straight.command("admin", {"replSetStepDown": 10, "force": True})
        self.assertEqual(1, self.command("mot", self.insert(2))["n"])
        self.assertEqual(self.host("s1"), self.admin(labrouter=1)["via"])
        member, = clusters.select(self.state, ["s0"])
        with mongo.Client(clusters.uri(self.state, [member], directConnection="true")) as straight:
            straight.command("admin", {"replSetFreeze": 0})
        self.command("mot", self.insert(-2))
        clusters.send(self.state["folder"], ["s0"], signal.SIGKILL)
        self.assertEqual(1, self.command("mot", self.insert(3))["n"])
        waits = threading.Thread(target=self.command, args=(
            "mot", {"createIndexes": "tests", "indexes": [{"key": {"k": 1}, "name": "k_1"}]}))
        waits.start()
        time.sleep(1)
        self.assertTrue(waits.is_alive())
        clusters.start_members(self.state["folder"], ["s0"], tied=True)
        waits.join()
        self.assertEqual(2, len(self.command("mot", {"listIndexes": "tests"})["cursor"]["firstBatch"]))
        self.assertEqual(5, self.client.count("mot", "tests"))


class Drivers(Routed):

    def test_chunks_that_move_while_many_insert(self):
        """through two routers: nothing lost, nothing twice"""
        self.sharded()
        self.admin(split="mot.tests", middle={"_id": 5000})
        _, port = self.router(number=1)
        wrong, acknowledged, done = [], [], threading.Event()

        def work(number, port):
            try:
                with self.join(port) as client:
                    for at in range(number, 10**9, 4):
                        if done.is_set():
                            return
                        ids = [(at * 50 + each) % 10000 + (at * 50 + each) / 2**30 for each in range(50)]
                        self.assertEqual(50, client.insert("mot", "tests", [{"_id": each} for each in ids], False))
                        acknowledged.extend(ids)
            except Exception as error:
                wrong.append(error)
        threads = [threading.Thread(target=work, args=(number, (port, self.port)[number % 2])) for number in range(4)]
        for thread in threads:
            thread.start()
        try:
            for turn in range(2):
                for at, to in ((0, "s0"), (6000, "s1")) if turn % 2 else ((0, "s1"), (6000, "s0")):
                    self.admin(moveChunk="mot.tests", find={"_id": at}, to=to, _waitForDelete=True)
        finally:
            done.set()
            for thread in threads:
                thread.join()
        self.assertEqual([], wrong)
        self.assertEqual(sorted(acknowledged), sorted(self.on("s0") + self.on("s1")))
        self.assertGreater(len(acknowledged), 1000)


if __name__ == "__main__":
    if not os.access(LABROUTER, os.X_OK):
        print("labrouter was not built")
        sys.exit(77)
    unittest.main()
