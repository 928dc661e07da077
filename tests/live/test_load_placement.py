"""What a load changes in a cluster is its own and is put back; what a user has set there stays.  needs: none"""
import json
import signal
import time

import clusters
import livecluster
import livetest
import minimongo as mongo
from livetest import rows

TEXT = rows(3000, 1)
WHOLE = {"min": {"_id": mongo.MinKey}, "max": {"_id": mongo.MaxKey}}


class Placement(livecluster.OwnCluster):
    """A cluster of their own: shards are tagged here."""
    options = {"shards": 2, "replicas": 1, "routers": 1}

    def setUp(self):
        super().setUp()
        self.name = self.database + ".results"
        self.write("a.csv", TEXT)
        self.addCleanup(self.forget_zones)

    # ---- a user's hands

    def admin(self, **command):
        return self.client.command("admin", command)

    def forget_zones(self):
        self.faults(clear=True)
        for entry in self.config("tags"):
            self.admin(updateZoneKeyRange=entry["ns"], min=entry["min"], max=entry["max"], zone=None)
        for shard in self.config("shards"):
            for tag in shard.get("tags", []):
                self.admin(removeShardFromZone=shard["_id"], zone=tag)

    def set_config(self, collection, which, change):
        self.client.command("config", {"update": collection, "updates": [{"q": which, "u": change, "multi": True}],
                                       "writeConcern": {"w": "majority"}})

    def zone(self, zone, shard, bounds=None, collection="results"):
        self.admin(addShardToZone=shard, zone=zone)
        if bounds:
            self.admin(updateZoneKeyRange="%s.%s" % (self.database, collection), **bounds, zone=zone)

    # ---- what is there

    def zones(self):
        return sorted((entry["ns"].partition(".")[2], entry["tag"]) for entry in self.config("tags"))

    def tags(self):
        return {shard["_id"]: shard["tags"] for shard in self.config("shards") if shard.get("tags")}

    def status(self, *words, **more):
        return self.tipple("status", "--uri", self.uri(), *words, **more)

    # ---- zones of others

    def test_zones_of_a_person(self):
        """An empty sharded collection lies as they say."""
        self.admin(shardCollection=self.name, key={"_id": 1})
        chunk, = self.chunks()
        self.zone("EU", chunk["shard"], WHOLE)
        self.load("a.csv")
        self.assertIn("(such as EU)", self.stderr)
        self.assertEqual([chunk["shard"]], [chunk["shard"] for chunk in self.chunks()])
        self.assertEqual(3000, len(self.on_shard(chunk["shard"])))
        self.assertEqual([("results", "EU")], self.zones())

    # ---- a shard that is down

    def test_status_with_a_shard_down(self):
        """what the other members know is said soon, however patient it is; also where the catalog's own shard is down"""
        self.load("a.csv")
        home = self.config("databases", filter={"_id": self.database})[0]["primary"]
        for down, said in (({"s0": "s1", "s1": "s0"}[home], b"1 of 1 file complete"), (home, b"shards  on")):
            clusters.send(self.state["folder"], [down], signal.SIGKILL)
            try:
                began = time.monotonic()
                done = self.status("--patience", "10m", status=4)
                self.assertLess(time.monotonic() - began, 20)  # 5 on a host that is not busy
            finally:
                clusters.start_members(self.state["folder"], [down], say=lambda words: None)
            self.assertIn(said, done.stdout)
            self.assertIn(b"s0: 1 chunk\n        s1: 1 chunk\n", done.stdout)
            self.assertIn("not all of", done.stderr)
        self.assertTrue(livetest.wait_for(lambda: b"3,000 documents" in self.status(status=None).stdout))

    # ---- loads that end early

    def placed(self, **more):
        """A load that has set its zones and waits for the sharding."""
        self.faults(fault={"do": "delay", "command": "shardCollection", "ms": 3000})
        load = self.start("--patience", "1s", "a.csv")
        self.assertTrue(livetest.wait_for(lambda: len(self.zones()) == 2))
        return load

    def both_load(self, *words):
        """Two loads at once, which leave nothing."""
        for process in [self.start(*words, name) for name in ("a.csv", "b.csv")]:
            said = process.communicate(timeout=livetest.LONG)[1].decode()
            self.assertEqual(0, process.returncode, said)
        self.clean()

    def test_two_keys_at_once(self):
        """two first loads with different shard keys: one shards the collection, the other is refused or was quicker"""
        self.write("b.csv", rows(500, 2))
        loads = [self.start(name, "--shard-key", key) for name, key in (("a.csv", "k:hashed"), ("b.csv", "v"))]
        ends = []
        for process in loads:
            said = process.communicate(timeout=livetest.LONG)[1].decode()
            ends.append(process.returncode)
            if process.returncode:
                self.assertRegex(said, "is sharded on .* already")
        self.assertEqual([0, 1], sorted(ends))
        self.assertEqual(3000 if not ends[0] else 500, len(self.documents()))

    def databases(self, count):
        first = self.database
        for number in range(count):
            self.database = "%s_%d" % (first[:40], number)
            self.name = self.database + ".results"
            yield number

    def kill_one(self):
        load = self.placed()
        load.kill()
        load.wait()
        self.faults(clear=True)
        self.assertEqual(2, len(self.zones()))

    @livetest.nightly
    def test_two_that_end_at_once(self):
        """of two loads that end at the same moment, one puts back what both have changed"""
        self.write("b.csv", rows(500, 2))
        for _ in self.databases(8):
            self.both_load()
        self.assertEqual({}, self.tags())

    def test_killed_while_it_places(self):
        """the next load takes away what one that was killed has set, also for another key or for none"""
        for number in self.databases(2):
            self.kill_one()
            self.load("a.csv", "--shard-key", ("k:hashed", "none")[number], status=(0, 2))
            self.clean()

    @livetest.nightly
    def test_two_behind_one_that_was_killed(self):
        """two first loads that begin at once after one that was killed while it placed: one of them takes that away"""
        self.write("b.csv", rows(500, 2))
        for _ in self.databases(3):
            self.kill_one()
            self.both_load("--shard-key", "k:hashed")

    def test_terminated_while_it_places(self):
        load = self.placed()
        load.send_signal(signal.SIGTERM)
        _, said = load.communicate(timeout=livetest.LONG)
        self.assertEqual(-signal.SIGTERM, load.returncode, said)
        self.assertEqual(([], {}), (self.zones(), self.tags()), said)

    def test_lost_while_it_places(self):
        """Nothing can be read any more: reported, shown, and taken away later."""
        load = self.placed()
        self.faults(fault={"do": "drop", "command": "find", "count": 100000})
        _, said = load.communicate(timeout=livetest.LONG)
        self.assertEqual(4, load.returncode, said)
        self.assertIn(b"tipple status", said[said.index(b"warning"):])
        self.faults(clear=True)
        self.assertEqual(2, len(self.zones()))
        self.assertTrue(livetest.wait_for(lambda: b"2 ranges and 2 tags" in self.status().stdout))
        self.assertRegex(self.status("--restore").stdout, b"2 ranges and 2 tags .*gone")
        self.clean()

    def indexes(self, collection):
        return {each["name"]: each for each in
                self.client.command(self.database, {"listIndexes": collection})["cursor"]["firstBatch"]}

    def test_index_of_the_key(self):
        """one that is asked for is there before the collection is sharded, and servers take it: they would make another one"""
        for number, (key, index, name) in enumerate((("t,k", "t:1,k:1;unique", "t_1_k_1"), ("k", "k:1;name=mine", "mine"))):
            self.load("--shard-key", key, "--index", index, "a.csv", collection="c%d" % number)
            found = self.indexes("c%d" % number)
            self.assertEqual({"_id_", name} if "_id_" in found else {name}, set(found))
            self.assertEqual("unique" in index, bool(found[name].get("unique")))
            self.load("--drop", "--yes", "--shard-key", key, "--index", index, "a.csv", collection="c%d" % number)
            self.assertNotIn("takes away", self.stderr)
        self.load("--shard-key", "k", "--index", "k:1;sparse;name=mine", "a.csv", collection="both")
        self.assertLessEqual({"k_1", "mine"}, set(self.indexes("both")))
        self.load("--drop", "--yes", "--shard-key", "d", "--index", '{"key": {"d": 1}, "name": "x", "expireAfterSeconds": 100}', "a.csv", status=1, collection="c1")
        self.assertIn("would remove documents", self.stderr)
        self.assertEqual(3000, self.client.count(self.database, "c1"))
        for index in "k:1;sparse", "k:1,t:1;name=k_1":
            self.load("--drop", "--yes", "--shard-key", "k", "--index", index, "a.csv", status=4, collection="c1")
            self.assertIn("could not build the index k_1", self.stderr)
            self.assertEqual(3000, self.client.count(self.database, "c1"))
        self.clean()

    def test_index_of_the_key_in_a_dump(self):
        """next to the key's own, servers build a sparse one under another name, but no hidden one: they say so after the load"""
        (self.folder / "d").mkdir()
        (self.folder / "d/a.bson").write_bytes(b"".join(mongo.encode({"_id": i, "k": i}) for i in range(9)))
        for index, status in (({"sparse": True, "name": "k_1"}, 4), ({"hidden": True, "name": "mine"}, 4),
                              ({"sparse": True, "name": "mine"}, 0)):
            (self.folder / "d/a.metadata.json").write_text(json.dumps({"indexes": [{"v": 2, "key": {"k": 1}, **index}]}))
            done = self.tipple("load", "--uri", self.uri("dumped"), "--shard-key", "k", "d/a.bson", status=status)
            self.assertEqual(status == 4, "could not build the index" in done.stderr)
            self.assertEqual(9, self.client.count(self.database, "dumped"))
        self.assertLessEqual({"k_1", "mine"}, set(self.indexes("dumped")))

    def test_drop_of_chunk_sizes_and_keys(self):
        """a size of chunks goes with the collection, and so does its key, if none is given: both are reported"""
        self.admin(shardCollection=self.name, key={"k": 1})
        self.load("a.csv")
        self.admin(configureCollectionBalancing=self.name, chunkSize=5)
        self.load("--drop", "--yes", "--shard-key", "k", "a.csv")
        self.assertIn('\n    sharding { "maxChunkSizeBytes" : 5242880 }\n', self.stderr)
        self.assertNotIn("index", self.stderr)
        self.load("--drop", "--yes", "a.csv")
        self.assertIn('\n    sharding { "key" : { "k" : 1 } }\n    index ', self.stderr)
        self.load("--drop", "--yes", "a.csv")
        self.assertNotIn("takes away", self.stderr)

    @livetest.nightly
    def test_drop_of_a_unique_key(self):
        """that no two documents have the same key goes with the collection, unless an index is asked for that keeps it so"""
        again = "--shard-key", "k,t", "--index", "k:1,t:1;unique"
        for words, shown in ((("--shard-key", "k,t"), True), ((), True), (again, False)):
            self.client.command(self.database, {"drop": "results"})
            self.client.command(self.database, {"drop": "results.tipple.files"})
            self.admin(shardCollection=self.name, key={"k": 1, "t": 1}, unique=True)
            self.load("a.csv")
            self.load("--drop", "--yes", *words, "a.csv")
            self.assertEqual(shown, '"name" : "k_1_t_1", "unique" : true }\n' in self.stderr, self.stderr)
        self.load("--drop", "--yes", *again, "a.csv")
        self.assertNotIn("takes away", self.stderr)

    def test_moves_that_are_off(self):
        """sh.disableMigrations: nothing is moved, which is said, as is that a drop takes it away"""
        self.admin(shardCollection=self.name, key={"_id": 1})
        self.set_config("collections", {"_id": self.name}, {"$set": {"permitMigrations": False}})
        self.load("a.csv")
        self.assertIn("(sh.disableMigrations)", self.stderr)
        self.assertEqual([WHOLE], [{"min": chunk["min"], "max": chunk["max"]} for chunk in self.chunks()])
        self.load("--drop", "--yes", "a.csv")
        self.assertIn('\n    sharding { "permitMigrations" : false }\n', self.stderr)

    def test_keys_of_bounds_that_cannot_be_put_in_order(self):
        """the key is known all the same, and what does not go with it is refused, also by a dry run"""
        self.write("a.json", "".join('{"v": {"$numberDecimal": "%d.5"}, "k": %d}\n' % (i, i) for i in range(50)))
        self.admin(shardCollection=self.name, key={"v": 1})
        self.admin(split=self.name, middle={"v": mongo.Decimal128.parse("25.5")})
        load = "load", "--format", "json", "--uri", self.uri(), "a.json"
        for words in ((), ("--dry-run",)):
            self.assertIn("already, not on --shard-key k", self.tipple(*load, "--shard-key", "k", *words, status=1).stderr)
            said = self.tipple(*load, "--index", "k:1;unique", *words, status=1).stderr
            self.assertIn("index k_1 cannot be", said)
            self.assertIn("stays until --drop", said)
        self.tipple(*load, "--shard-key", "v")
        self.assertEqual(50, self.client.count(self.database, "results"))

    def test_keys_of_other_numbers(self):
        """the classic mongo shell, and some drivers, write 1.0 or a long where others write 1: it is the same key"""
        for number, one in enumerate((1.0, mongo.Int64(1))):
            name = "c%d" % number
            self.admin(shardCollection="%s.%s" % (self.database, name), key={"k": one, "t": "hashed"})
            self.load("--shard-key", "k,t:hashed", "a.csv", collection=name)
            self.load("--shard-key", "k,t", "a.csv", collection=name, status=1)
            self.assertIn("already, not on --shard-key k,t", self.stderr)

    def test_indexes_that_do_not_go_with_the_key(self):
        """of an empty collection that a user has made: no matter of time"""
        for name, index in (("unique", {"key": {"v": 1}, "unique": True}),
                            ("partial", {"key": {"k": 1}, "partialFilterExpression": {"k": {"$gt": "M"}}}),
                            ("named", {"key": {"k": 1}, "sparse": True, "name": "k_1"})):
            self.client.command(self.database, {"createIndexes": name, "indexes": [{"name": "theirs", **index}]})
            words = ["a.csv"] if name == "unique" else ["--shard-key", "k", "a.csv"]
            self.load(*words, collection=name, status=1)
            self.assertRegex(self.stderr, "not be sharded: .*--shard-key none")
            self.clean()
        self.load("--shard-key", "none", "a.csv", collection="partial")

    def test_collation(self):
        """no cluster shards such a collection by its texts' own order: it stays on one shard"""
        self.client.command(self.database, {"create": "results", "collation": {"locale": "en", "strength": 2}})
        self.load("--shard-key", "none", "a.csv")


class Hidden(livecluster.Cluster):
    """A user who may set zones, but not see them."""
    server = "cluster-auth"

    def test_zones_that_cannot_be_seen(self):
        """A load could not see whether one that was killed has left some: it sets none."""
        self.write("a.csv", TEXT)
        uri = self.user(self.role(({"cluster": True}, "enableSharding", "listShards"),
                                  ({"db": "config", "collection": "collections"}, "find"),
                                  roles=[{"role": "readWrite", "db": self.database}]))
        self.load("a.csv", "--uri", uri, status=1)
        self.assertRegex(self.stderr, "config database.*--shard-key none")
        self.assertEqual(1, self.tipple("status", "--uri", uri, "--restore", status=1).returncode)
        self.load("a.csv")
        self.clean()

    def test_drop_where_shards_cannot_be_listed(self):
        """the config database says which ones there are; all that is needed to shard it again is asked for before the drop"""
        self.write("a.csv", TEXT)
        uri = self.user(self.role(({"cluster": True}, "enableSharding"), ({"db": self.database, "collection": ""}, "enableSharding"),
                                  roles=[{"role": "readWrite", "db": self.database}, {"role": "read", "db": "config"}]))
        self.load("a.csv")
        self.assertRegex(self.tipple("status", "--uri", uri).stdout.decode(), r"s0: 1 chunk\n +s1: 1 chunk\n")
        self.load("--drop", "--yes", "a.csv", "--uri", uri)
        self.assertEqual(3000, self.client.count(self.database, "results"))
        self.clean()


if __name__ == "__main__":
    livetest.main()
