"""tools/labrouter: to a client it is a router of a sharded cluster.   needs: none; nightly: a test of a tool

A small cluster is formed here from mongods alone (a config server and two shards, of one member each); what the
router should have done is read from the shards themselves."""
import contextlib
import hashlib
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import clusters
import live
import livetest
import minimongo as mongo
import pool
from livecluster import LABROUTER, start_router
from live import ROOT, TIPPLE

NAMES = ("cfg", "s0", "s1")
MAJORITY = {"w": "majority"}


class Routed(unittest.TestCase):
    options = {}
    maxDiff = 3000

    @classmethod
    def setUpClass(cls):
        cls.state = pool.own(shards=2, routers=0, **cls.options)
        cls.process, cls.port = start_router(cls.state)

    @classmethod
    def tearDownClass(cls):
        """Nobody has to be told twice, and a sanitizer has nothing to say."""
        cls.process.send_signal(signal.SIGTERM)
        said = cls.process.communicate(timeout=livetest.LONG)
        assert cls.process.returncode == 0 and not said[1], said

    def setUp(self):
        self.client = self.join()
        self.command = self.client.command
        self.command("admin", {"labrouter": 1, "clear": True})
        self.command("mot", {"dropDatabase": 1})

    def join(self, port=None, login=True):
        client = mongo.Client(self.through(port or self.port, login), timeout=livetest.LONG)
        self.addCleanup(client.close)
        return client

    def through(self, port, login=True):
        """The URI of a router."""
        return clusters.uri(self.state, [{"port": port, "set": None}], login and clusters.USER)

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

    def refused(self, code, database, command, words="", client=None):
        with self.assertRaises(mongo.CommandError) as caught:
            (client or self.client).command(database, command)
        self.assertEqual(code, caught.exception.code, caught.exception)
        self.assertRegex(str(caught.exception), words or ".")

    def on(self, shard, collection="tests"):
        """The _ids that a shard itself has."""
        with self.straight(shard) as client:
            return sorted(document["_id"] for document in client.find("mot", collection, projection={"_id": 1}))

    def checkpoints(self, shard):
        with self.straight(shard) as client:
            return client.command("admin", {"serverStatus": 1})["wiredTiger"]["transaction"]["transaction checkpoints"]

    def chunks(self, collection="tests"):
        uuid = next(self.client.find("config", "collections", {"_id": "mot." + collection}))["uuid"]
        return [(chunk["min"], chunk["max"], chunk["shard"])
                for chunk in self.client.find("config", "chunks", {"uuid": uuid}, sort={"min": 1})]

    def fault(self, do, **more):
        self.admin(labrouter=1, fault={"do": do, **more})

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
    def test_hello_is_that_of_a_router(self):
        for name in ("hello", "isMaster", "ismaster"):
            hello = self.command("admin", {name: 1, "helloOk": True, "topologyVersion": {"counter": mongo.Int64(1)},
                                           "maxAwaitTimeMS": 10000})
            self.assertEqual(("isdbgrid", 17, 100000), (hello["msg"], hello["maxWireVersion"], hello["maxWriteBatchSize"]))
            self.assertTrue(hello["isWritablePrimary" if name == "hello" else "ismaster"])
            self.assertFalse({"setName", "hosts", "primary", "me", "topologyVersion", "compression"} & set(hello))

    def test_the_first_hello_may_be_an_old_query(self):
        with socket.create_connection(("127.0.0.1", self.port)) as stream:
            body = mongo.encode({"isMaster": 1})
            query = struct.pack("<i", 0) + b"admin.$cmd\0" + struct.pack("<ii", 0, -1) + body
            stream.sendall(struct.pack("<iiii", 16 + len(query), 7, 0, 2004) + query)
            reply = stream.makefile("rb")
            size, _, answers, opcode = struct.unpack("<iiii", reply.read(16))
            self.assertEqual((7, 1), (answers, opcode))
            self.assertEqual("isdbgrid", mongo.decode(reply.read(size - 16), 20)["msg"])

    def test_documents_go_where_their_chunks_are(self):
        self.sharded()
        self.assertEqual(1000, self.client.insert("mot", "tests", [{"_id": each} for each in range(-500, 500)], False))
        self.assertEqual(list(range(-500, 0)), self.on("s0"))
        self.assertEqual(list(range(0, 500)), self.on("s1"))
        for shard in NAMES[1:]:
            with self.straight(shard) as client:
                options = client.command("mot", {"listCollections": 1})["cursor"]["firstBatch"][0]["options"]
                self.assertTrue(options["clusteredIndex"]["unique"])
                self.assertEqual("block_compressor=zstd", options["storageEngine"]["wiredTiger"]["configString"])

    def test_duplicate_keys_have_their_index(self):
        self.sharded()
        self.client.insert("mot", "tests", [{"_id": -5}, {"_id": 5}])
        reply = self.command("mot", {"insert": "tests", "ordered": False, "txnNumber": mongo.Int64(1),
                                     "lsid": {"id": mongo.Binary(bytes(16), 4)},
                                     "documents": [{"_id": each} for each in (1000, -5, 5, -1001)]})
        self.assertEqual(2, reply["n"])
        self.assertEqual([(1, 11000, {"_id": -5}), (2, 11000, {"_id": 5})],
                         [(error["index"], error["code"], error["keyValue"]) for error in reply["writeErrors"]])
        self.assertEqual([-1001, -5], self.on("s0"))

    def test_document_sequences_and_no_reply(self):
        """the documents as sections of their own, before and behind the command, with a checksum, without a reply"""
        self.sharded()
        command = b"\0" + mongo.encode({"insert": "tests", "$db": "mot", "txnNumber": mongo.Int64(3),
                                        "lsid": {"id": mongo.Binary(bytes(16), 4)}, "ordered": False})

        def sequence(*ids):
            documents = b"documents\0" + b"".join(mongo.encode({"_id": each}) for each in ids)
            return b"\1" + struct.pack("<i", 4 + len(documents)) + documents

        with socket.create_connection(("127.0.0.1", self.port)) as stream:
            replies = stream.makefile("rb")
            for flags, body in ((0, command + sequence(-1, 1)), (0, sequence(-2, 2) + command),
                                (1, command + sequence(-3, 3) + b"sum!"), (2, command + sequence(-4, 4)),
                                (1 << 16, command + sequence(-5, 5))):
                stream.sendall(struct.pack("<iiiiI", 20 + len(body), 99, 0, 2013, flags) + body)
                if flags != 2:
                    size, _, answers, opcode, flags = struct.unpack("<iiiiI", replies.read(20))
                    self.assertEqual((99, 2013, 0), (answers, opcode, flags))
                    self.assertEqual(2, mongo.decode(replies.read(size - 20)[1:])["n"])
        self.assertEqual([-5, -4, -3, -2, -1], self.on("s0"))
        self.assertEqual([1, 2, 3, 4, 5], self.on("s1"))

    def test_rubbish_closes_one_connection_only(self):
        for rubbish in (b"GET / HTTP/1.1\r\n\r\n", struct.pack("<iiii", -1, 1, 0, 2013), os.urandom(64),
                        struct.pack("<iiiiIB", 26, 1, 0, 2013, 0, 0) + struct.pack("<i", 999) + b"\0",
                        struct.pack("<iiiiIB", 26, 1, 0, 2013, 0, 0) + struct.pack("<i", 5) + b"\1"):
            with socket.create_connection(("127.0.0.1", self.port)) as stream:
                with contextlib.suppress(OSError):  # it may be faster than we
                    stream.sendall(rubbish)
                    stream.shutdown(socket.SHUT_WR)
                    self.assertEqual(b"", stream.recv(100))
        self.admin(ping=1)

    def test_reads(self):
        self.sharded()
        self.client.insert("mot", "tests", [{"_id": each, "k": each % 7, "a": [each % 3, 9]} for each in range(-500, 500)])
        self.assertEqual(1000, len(list(self.client.find("mot", "tests", batchSize=7))))
        self.assertEqual(1000, self.command("mot", {"count": "tests"})["n"])
        self.assertEqual(143, self.command("mot", {"count": "tests", "query": {"k": 1}})["n"])
        self.assertEqual(40, self.command("mot", {"count": "tests", "query": {"k": 1}, "skip": 3, "limit": 40})["n"])
        self.assertEqual(0, self.command("mot", {"count": "nothing"})["n"])
        self.assertEqual([0, 1, 2, 9], self.command("mot", {"distinct": "tests", "key": "a"})["values"])
        self.assertEqual([1, 2], self.command("mot", {"distinct": "tests", "key": "k", "query": {"_id": {"$gt": 497}}})["values"])
        sums = list(self.client.aggregate("mot", "tests", [{"$group": {"_id": "$k", "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}]))
        self.assertEqual([143, 143, 143, 142, 143, 143, 143], [each["n"] for each in sums])
        plan = self.command("mot", {"explain": {"find": "tests", "filter": {"_id": 5}}})["queryPlanner"]["winningPlan"]
        self.assertEqual(("SINGLE_SHARD", ["s1"]), (plan["stage"], [each["shardName"] for each in plan["shards"]]))
        stats = self.command("mot", {"collStats": "tests"})
        self.assertEqual((True, 1000, {"s0", "s1"}), (stats["sharded"], stats["count"], set(stats["shards"])))
        self.assertEqual(1000, self.command("mot", {"dbStats": 1})["objects"])
        before = {name: self.checkpoints(name) for name in ("s0", "s1")}
        self.admin(fsync=1)
        self.assertTrue(all(before[name] < self.checkpoints(name) for name in before))
        list(self.client.aggregate("mot", "tests", [{"$match": {"k": 1}}, {"$out": "copy"}]))
        self.assertEqual(143, self.client.count("mot", "copy"))

    def test_writes(self):
        self.sharded()
        self.client.insert("mot", "tests", [{"_id": each, "k": abs(each)} for each in (-2, -1, 1, 2)])
        update = self.command("mot", {"update": "tests", "updates": [{"q": {"k": 1}, "u": {"$set": {"x": 1}}, "multi": True}]})
        delete = self.command("mot", {"delete": "tests", "deletes": [{"q": {"k": 2}, "limit": 0}]})
        self.assertEqual((2, 2), (update["nModified"], delete["n"]))
        self.assertEqual([-1], self.on("s0"))

    def test_find_and_modify_where_nothing_is_sharded(self):
        counter = {"findAndModify": "counters", "query": {"_id": "catalog"}, "update": {"$inc": {"n": 1}}, "upsert": True,
                   "new": True, "writeConcern": MAJORITY, "lsid": {"id": mongo.Binary(os.urandom(16), 4)}}
        for number, expected in ((1, 1), (2, 2), (2, 2)):  # the same number again: the same write, sent again
            reply = self.command("mot", {**counter, "txnNumber": mongo.Int64(number)})
            self.assertEqual(expected, reply["value"]["n"])
        self.admin(shardCollection="mot.tests", key={"_id": 1})
        self.refused(115, "mot", {"findAndModify": "tests", "query": {"_id": 1}, "remove": True}, "not sharded")

    def test_split_move_merge(self):
        self.sharded()
        self.client.insert("mot", "tests", [{"_id": each} for each in range(100)])
        self.admin(split="mot.tests", middle={"_id": 50})
        self.admin(split="mot.tests", find={"_id": -7}, middle={"_id": -100})
        self.assertEqual([(mongo.MinKey, -100, "s0"), (-100, 0, "s0"), (0, 50, "s1"), (50, mongo.MaxKey, "s1")],
                         [(low["_id"], high["_id"], shard) for low, high, shard in self.chunks()])
        self.admin(moveChunk="mot.tests", find={"_id": 60}, to="s0", _waitForDelete=True)
        self.assertEqual((list(range(50, 100)), list(range(50))), (self.on("s0"), self.on("s1")))
        self.admin(moveChunk="mot.tests", bounds=[{"_id": 50}, {"_id": mongo.MaxKey}], to="s1", _waitForDelete=True)
        self.admin(moveRange="mot.tests", toShard="s0", min={"_id": 10}, max={"_id": 20}, waitForDelete=True)
        self.assertEqual(list(range(10, 20)), self.on("s0"))
        self.admin(mergeChunks="mot.tests", bounds=[{"_id": mongo.MinKey}, {"_id": 0}])
        self.admin(split="mot.tests", bounds=[{"_id": 50}, {"_id": mongo.MaxKey}])
        self.assertEqual([(mongo.MinKey, 0), (0, 10), (10, 20), (20, 50), (50, 75), (75, mongo.MaxKey)],
                         [(low["_id"], high["_id"]) for low, high, _ in self.chunks()])
        self.refused(96, "admin", {"split": "mot.tests", "find": {"_id": -1}}, "possibly empty")
        self.refused(26, "admin", {"moveChunk": "mot.tests", "bounds": [{"_id": 3}, {"_id": 4}], "to": "s0"}, "no chunk")
        self.refused(118, "admin", {"split": "mot.nothing", "find": {"_id": 1}}, "not sharded")

    def test_kinds_of_keys(self):
        key = hashlib.md5(struct.pack("<ii", 0, 15) + struct.pack("<i", 3) + b"s7\0").digest()[:8]
        low = struct.unpack("<q", key)[0]
        self.admin(shardCollection="mot.h", key={"st": "hashed"})
        self.admin(shardCollection="mot.c", key={"st": 1, "t": 1})
        self.admin(shardCollection="mot.u", key={"v": 1}, unique=True)
        self.client.insert("mot", "h", [{"_id": each, "st": "s%d" % (each % 50)} for each in range(500)])
        for chunk in self.chunks("h"):
            mine = chunk[0]["st"] is mongo.MinKey or chunk[0]["st"] <= low
            mine = mine and (chunk[1]["st"] is mongo.MaxKey or low < chunk[1]["st"])
            if mine:
                other = "s1" if chunk[2] == "s0" else "s0"
        self.admin(moveChunk="mot.h", find={"st": "s7"}, to=other, _waitForDelete=True)
        self.assertIn(7, self.on(other, "h"))
        self.admin(split="mot.c", middle={"st": "m", "t": 5})
        self.assertEqual(2, len(self.chunks("c")))
        self.client.insert("mot", "u", [{"v": 1}])
        self.refused_write(11000, "u", {"v": 1})

    def refused_write(self, code, collection, document):
        with self.assertRaises(mongo.CommandError) as caught:
            self.client.insert("mot", collection, [document])
        self.assertEqual(code, caught.exception.code)

    def test_indexes_are_on_every_owner(self):
        self.sharded()
        self.command("mot", {"createIndexes": "tests", "indexes": [{"key": {"k": 1}, "name": "k_1"}]})

        def names():
            for shard in NAMES[1:]:
                with self.straight(shard) as client:
                    listed = client.command("mot", {"listIndexes": "tests"})["cursor"]["firstBatch"]
                    yield [index["name"] for index in listed]
        self.assertEqual([["_id_", "k_1"]] * 2, [sorted(each) for each in names()])
        listed = self.command("mot", {"listIndexes": "tests", "cursor": {}})["cursor"]["firstBatch"]
        self.assertEqual(["_id_", "k_1"], sorted(index["name"] for index in listed))
        self.command("mot", {"dropIndexes": "tests", "index": "k_1"})
        self.assertEqual([["_id_"]] * 2, list(names()))
        self.refused(26, "none", {"listIndexes": "tests"})

    def test_collections_and_databases(self):
        self.assertEqual([], self.command("mot", {"listCollections": 1})["cursor"]["firstBatch"])
        self.sharded()
        self.client.insert("mot", "plain", [{"_id": 1}])
        listed = self.command("mot", {"listCollections": 1, "nameOnly": True, "cursor": {}})["cursor"]["firstBatch"]
        self.assertEqual(["plain", "tests"], sorted(each["name"] for each in listed))
        self.assertIn("mot", [each["name"] for each in self.admin(listDatabases=1)["databases"]])
        self.command("mot", {"collMod": "plain", "validator": {"a": 1}})
        self.refused_write(121, "plain", {"_id": 2})
        self.command("mot", {"drop": "tests"})
        self.assertEqual([], list(self.client.find("config", "collections", {"_id": "mot.tests"})))
        self.command("mot", {"dropDatabase": 1})
        self.assertNotIn("mot", [each["name"] for each in self.admin(listDatabases=1, nameOnly=True)["databases"]])

    def test_configuration(self):
        self.sharded()
        self.assertEqual([("s0", "s0/" + self.host("s0")), ("s1", "s1/" + self.host("s1"))],
                         [(shard["_id"], shard["host"]) for shard in self.admin(listShards=1)["shards"]])
        self.admin(balancerStop=1)
        self.assertEqual("off", self.admin(balancerStatus=1)["mode"])
        self.admin(balancerStart=1)
        self.assertEqual("full", self.admin(balancerStatus=1)["mode"])
        self.command("config", {"update": "collections", "writeConcern": MAJORITY, "updates": [
            {"q": {"_id": "mot.tests"}, "u": {"$set": {"noBalance": True}}}]})
        with self.straight("cfg") as config:
            self.assertTrue(next(config.find("config", "collections", {"_id": "mot.tests"}))["noBalance"])
        self.refused(40415, "admin", {"configureCollectionBalancing": "mot.tests", "enableBalancing": False}, "unknown field")
        self.admin(updateZoneKeyRange="mot.tests", min={"_id": 1}, max={"_id": 2}, zone="on_s1")
        self.assertEqual(1, self.client.count("config", "tags", {"ns": "mot.tests"}))
        self.admin(updateZoneKeyRange="mot.tests", min={"_id": 1}, max={"_id": 2}, zone=None)
        for shard in NAMES[1:]:
            self.admin(removeShardFromZone=shard, zone="on_" + shard)
        self.assertEqual([[], []], [shard["tags"] for shard in self.admin(listShards=1)["shards"]])
        self.admin(addShard="s0/" + self.host("s0"))

    def test_what_it_cannot_do_it_says(self):
        self.refused(59, "admin", {"nonsense": 1}, "no such command")
        for name in ("removeShard", "renameCollection", "movePrimary", "reshardCollection", "commitTransaction"):
            self.refused(115, "admin", {name: "s0"})
        self.refused(115, "mot", {"insert": "tests", "documents": [{"_id": 1}], "startTransaction": True,
                                  "autocommit": False, "txnNumber": mongo.Int64(1)}, "transactions")
        self.refused(115, "mot", {"aggregate": 1, "pipeline": [{"$changeStream": {}}], "cursor": {}}, "change streams")
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
    def lost(self, command):
        with self.assertRaises((mongo.Error, OSError)) as caught:
            self.command("mot", command)
        self.assertNotIsInstance(caught.exception, mongo.CommandError)
        self.client = self.join()
        self.command = self.client.command

    def insert(self, *ids):
        return {"insert": "tests", "documents": [{"_id": each} for each in ids]}

    def test_drop(self):
        self.fault("drop", command="insert")
        self.lost(self.insert(1))
        self.assertEqual(0, self.client.count("mot", "tests"))
        self.command("mot", self.insert(1))

    def test_lose_reply(self):
        self.fault("lose-reply", command="insert", after=1)
        self.command("mot", self.insert(1))
        self.lost(self.insert(2))
        self.assertEqual([1, 2], sorted(each["_id"] for each in self.client.find("mot", "tests")))

    def test_every(self):
        self.fault("not-primary", command="ping", after=1, every=3, count=2)
        refused = []
        for number in range(10):
            try:
                self.admin(ping=1)
            except mongo.CommandError:
                refused.append(number)
        self.assertEqual([1, 4], refused)

    def test_cut(self):
        self.fault("cut", command="insert")
        self.lost(self.insert(1))
        self.fault("cut", command="count")
        self.lost({"count": "tests"})
        self.assertEqual(1, self.client.count("mot", "tests"))

    def test_delay(self):
        for do in ("delay", "delay-reply"):
            self.fault(do, command="ping", ms=300, count=2)
            for least in (0.3, 0.3, 0):
                began = time.monotonic()
                self.admin(ping=1)
                self.assertGreaterEqual(time.monotonic() - began, least)

    def test_not_primary(self):
        self.fault("not-primary", count=2)
        self.refused(10107, "mot", self.insert(1))
        self.refused(10107, "mot", {"count": "tests"})
        self.assertEqual(0, self.client.count("mot", "tests"))

    def test_told(self):
        self.fault("drop", command="nothing", count=3)
        for _ in range(5):
            self.admin(ping=1)
        told = self.admin(labrouter=1)
        self.assertEqual([("drop", "nothing", 3, 0)],
                         [(each["do"], each["command"], each["count"], each["done"]) for each in told["faults"]])
        self.assertGreaterEqual(told["messages"]["ping"], 5)
        self.assertIn(told["via"], map(self.host, NAMES[1:]))
        for wrong in ({"do": "dance"}, {"command": "x"}, {"do": "drop", "sometimes": 1}, {"do": "drop", "count": -1}):
            self.refused(72, "admin", {"labrouter": 1, "fault": wrong})

    def test_told_at_the_start(self):
        process, port = self.router("--fault", "not-primary,command=ping,after=1,count=1")
        client = self.join(port)
        client.command("admin", {"ping": 1})
        self.refused(10107, "admin", {"ping": 1}, client=client)
        client.command("admin", {"ping": 1})
        process.send_signal(signal.SIGINT)
        self.assertEqual(0, process.wait(livetest.LONG))

    def test_the_command_line(self):
        for words, said in (((), "needed"), (("--port", "x", "--via", "a", "--config", "b"), "not a number"),
                            (("--port", "0", "--via", "a", "--config", "b", "--bind", "0.0.0.0"), "loopback"),
                            (("--port", "0", "--via", "a", "--config", "b", "--fault", "dance"), "no fault"),
                            (("--port", "0", "--via", "a", "--config", "b", "--user", "u"), "go together")):
            done = subprocess.run([LABROUTER, *words], capture_output=True, text=True, timeout=livetest.LONG)
            self.assertEqual((1, ""), (done.returncode, done.stdout))
            self.assertIn(said, done.stderr)
        done = subprocess.run([LABROUTER, "--help"], capture_output=True, text=True, timeout=livetest.LONG)
        self.assertIn("A test tool", done.stdout)

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
    def test_many_clients_at_once(self):
        self.sharded(at="4")
        wrong = []

        def work(number):
            try:
                with self.join() as client:
                    for batch in range(20):
                        self.assertEqual(100, client.insert("mot", "tests", [
                            {"_id": "%d.%d.%d" % (number, batch, each)} for each in range(100)], False))
            except Exception as error:
                wrong.append(error)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], wrong)
        self.assertEqual(8 * 20 * 100, self.client.count("mot", "tests"))
        self.assertEqual((8000, 8000), (len(self.on("s0")), len(self.on("s1"))))

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

    def run_in(self, words, **environment):
        with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
            (pathlib.Path(folder) / "a.csv").write_bytes(livetest.rows(2000))
            return subprocess.run([*map(str, words)], cwd=folder, capture_output=True, text=True, timeout=livetest.LONG,
                                  env={**os.environ, **environment})

    def test_libmongoc(self):
        """tipple loads through it"""
        done = self.run_in([TIPPLE, "load", "--format", "mot", "--uri", "mongodb://127.0.0.1:%d/mot.results" % self.port,
                            "a.csv"])
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertEqual(2000, self.client.count("mot", "results"))

    def python_with_pymongo(self):
        """The one that measurements use, too (tests/bench/lib/lab.py)."""
        venv, wanted = ROOT / "build/bench/venv", (ROOT / "tests/bench/requirements.txt").read_text()
        mark = venv / "installed.txt"
        if mark.exists() and mark.read_text() == wanted:
            return venv / "bin/python"
        for step in ([sys.executable, "-m", "venv", venv], [venv / "bin/python", "-m", "pip", "install", "--quiet",
                                                            "--only-binary", ":all:", *wanted.split()]):
            if subprocess.run([*map(str, step)], capture_output=True).returncode:
                self.skipTest("pip cannot install pymongo")
        mark.write_text(wanted)
        return venv / "bin/python"

    @livetest.nightly
    def test_pymongo(self):
        """another language's driver, where pip can install it"""
        done = self.run_in([self.python_with_pymongo(), ROOT / "tests/lib/labrouter_pymongo.py", self.port])
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)


class Secure(Routed):
    options = {"auth": True, "tls": True}

    def test_everything_with_login_and_tls(self):
        self.sharded()
        self.client.insert("mot", "tests", [{"_id": each} for each in range(-500, 500)])
        self.assertEqual((500, 500), (len(self.on("s0")), len(self.on("s1"))))
        self.assertEqual(1000, self.command("mot", {"count": "tests"})["n"])
        self.admin(split="mot.tests", middle={"_id": 50})
        self.admin(moveChunk="mot.tests", find={"_id": 50}, to="s0")
        self.command("mot", {"createIndexes": "tests", "indexes": [{"key": {"k": 1}, "name": "k_1"}]})
        self.assertEqual(1000, self.client.count("mot", "tests"))

    def test_who_is_nobody_may_nothing(self):
        nobody = self.join(login=False)
        for database, command in (("mot", {"insert": "tests", "documents": [{"_id": 1}]}), ("mot", {"count": "tests"}),
                                  ("mot", {"createIndexes": "tests", "indexes": []}), ("admin", {"listShards": 1}),
                                  ("admin", {"listDatabases": 1}), ("admin", {"shardCollection": "mot.x", "key": {"_id": 1}}),
                                  ("mot", {"drop": "tests"}), ("mot", {"findAndModify": "x", "query": {}, "remove": True})):
            with self.subTest(command=command):
                self.refused(13, database, command, client=nobody)

    def test_a_user_who_may_little(self):
        with contextlib.suppress(mongo.CommandError):
            self.admin(dropUser="reader")
        self.admin(createUser="reader", pwd="pw", roles=[{"role": "readWrite", "db": "mot"}])
        uri = live.as_user(self.through(self.port), "reader")
        with mongo.Client(uri) as reader:
            self.assertEqual(1, reader.insert("mot", "tests", [{"_id": 1}]))
            reader.command("mot", {"createIndexes": "tests", "indexes": [{"key": {"k": 1}, "name": "k_1"}]})
            reader.command("mot", {"findAndModify": "tests", "query": {"_id": 1}, "update": {"$set": {"k": 1}}})
            self.refused(13, "config", {"find": "chunks"}, client=reader)
            self.refused(13, "admin", {"shardCollection": "mot.tests", "key": {"_id": 1}}, client=reader)
            self.refused(13, "other", {"create": "tests"}, client=reader)
            self.refused(13, "admin", {"moveChunk": "mot.tests", "find": {"_id": 1}, "to": "s0"}, client=reader)


if __name__ == "__main__":
    if not os.access(LABROUTER, os.X_OK):
        print("labrouter was not built")
        sys.exit(77)
    unittest.main()
