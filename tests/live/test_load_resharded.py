"""What users change in a cluster while a load runs, or between loads: the collection is sharded, its shard key gets more
fields, it gets another name. Nothing is doubled, and what a user has set stays.  needs: cluster; nightly: it takes long"""
import json

import clusters
import livecluster
import livetest

MORE = "k,v\n" + "".join("%d,%d\n" % (i, 5) for i in range(700))  # most of them are there with another v
KEYS = "k,v\n" + "".join("%d,%d\n" % (i, i % 7) for i in range(2000))
FORMAT = """format: pairs
record: {delimiter: ",", header: [k]}
fields:
  - {name: k, type: long}
  - {name: v, type: long}
"""


def lines(objects):
    return "".join(json.dumps(each) + "\n" for each in objects)


class Changes(livecluster.Cluster):
    format = "pairs.yaml"

    def setUp(self):
        super().setUp()
        self.name = self.database + ".results"
        self.write("a.csv", KEYS)
        self.write("pairs.yaml", FORMAT)

    # ---- a user's hands. The lab's router leaves these to the shard that has the database

    def admin(self, **command):
        return self.client.command("admin", command)

    def at_home(self, database, **command):
        home, = self.config("databases", filter={"_id": self.database})
        with self.shard_client(home["primary"]) as shard:
            return shard.command(database, {**command, "databaseVersion": home["version"],
                                            "writeConcern": {"w": "majority"}})

    def index(self, **key):
        self.client.command(self.database, {"createIndexes": "results", "indexes": [
            {"key": key, "name": "_".join(key)}]})

    def shard(self, **key):
        self.admin(shardCollection=self.name, key=key)

    def refine(self, **key):
        self.index(**key)
        self.at_home(self.database, _shardsvrRefineCollectionShardKey="results", newShardKey=key)

    def reshard(self, **key):
        config = [member for member in self.state["members"] if member["role"] == "config"]
        with clusters.client(self.state, config) as client:
            client.command("admin", {"setParameter": 1, "reshardingMinimumOperationDurationMillis": 0})
        self.at_home("admin", _shardsvrReshardCollection=self.name, key=key, unique=False, zones=[])

    def rename(self, to="other", **more):
        self.at_home(self.database, _shardsvrRenameCollection="results", to="%s.%s" % (self.database, to), **more)

    def switch(self, off, collection="results"):
        self.client.command("config", {"update": "collections", "updates": [
            {"q": {"_id": "%s.%s" % (self.database, collection)}, "u": {"$set": {"noBalance": off}}}],
            "writeConcern": {"w": "majority"}})

    def off(self):
        return {entry["_id"].partition(".")[2]: bool(entry.get("noBalance")) for entry in self.config("collections")
                if entry["_id"].startswith(self.database + ".")}

    def status(self, *words, **more):
        return self.tipple("status", "--uri", self.uri(), *words, **more).stdout.decode()

    # ---- loads

    def loading(self, *words):
        """A load of a.csv, all of which is written down, that goes on with what comes by its stdin."""
        load = self.start_held("--input-name", "more", *words, "a.csv")
        self.assertTrue(livetest.wait_for(lambda: load.poll() is not None or self.is_written_down()))
        self.assertIsNone(load.poll(), load.poll() is not None and load.communicate())
        return load

    def is_written_down(self):
        pieces = [piece for entry in self.catalog_entries() for piece in entry.get("pieces", [])]
        return 2000 == sum(piece.get("loaded", 0) + piece.get("tail", {}).get("loaded", 0) for piece in pieces)

    def ended(self, load, pattern, text=MORE):
        """Nothing of what came after the change counts as loaded."""
        said = load.communicate(text.encode(), timeout=livetest.LONG)[1].decode()
        self.assertRegex(said, pattern)
        self.assertEqual(4, load.returncode, said)
        self.assertTrue(self.is_written_down())
        return said

    def apart(self):
        """Sharded on v, and what has a 5 there lies on the other shard."""
        self.index(v=1)
        self.shard(v=1)
        self.parted(v=4)

    def parted(self, **middle):
        self.admin(split=self.name, middle=middle)
        chunk = self.chunks()[-1]
        self.admin(moveChunk=self.name, find=middle, to={"s0": "s1", "s1": "s0"}[chunk["shard"]])


class Keys(Changes):
    """The `_id` of the data is there once in the whole collection, however it comes to be sharded."""

    def test_sharded_meanwhile(self):
        load = self.loading("--id", "k", "--shard-key", "none")
        self.apart()
        self.ended(load, "--id k .*go with 'v'")
        self.load("--id", "k", "a.csv", status=1)
        self.assertIn("go with 'v'", self.stderr)

    def test_refined_meanwhile(self):
        load = self.loading("--id", "k")
        self.refine(_id=1, v=1)
        self.ended(load, "--id k .*go with 'v'")
        self.load("--id", "k", "a.csv", status=1)
        self.assertIn("go with 'v'", self.stderr)

    def test_refined_by_what_makes_the_id(self):
        load = self.loading("--id", "k")
        self.refine(_id=1, k=1)
        said = load.communicate(MORE.encode(), timeout=livetest.LONG)[1].decode()
        self.assertIn("rejected more:2:", said)
        self.assertEqual(2, load.returncode, said)

    def test_replaced_where_the_key_grows(self):
        self.format = None
        self.write("a.json", lines({"_id": i, "v": i % 7} for i in range(2000)))
        self.load("--existing", "replace", "a.json")
        self.refine(_id=1, v=1)
        self.load("--existing", "replace", "a.json", status=1)
        self.assertIn("--existing replace does not", self.stderr)

    def test_replaced_in_a_new_collection(self):
        """the documents' own _ids are seen only when the inputs are looked at"""
        self.format = None
        self.write("a.json", lines({"_id": i, "v": i % 7} for i in range(2000)))
        for existing in "replace", "keep":
            self.load("--existing", existing, "--shard-key", "v", "a.json", status=1)
            self.assertIn("--existing %s does not go" % existing, self.stderr)
            self.assertFalse(self.has_header())

    def test_emptied_and_sharded_otherwise(self):
        """what makes the _ids is known from the catalog"""
        self.load("--id", "k", "--shard-key", "none", "a.csv")
        self.client.command(self.database, {"delete": "results", "deletes": [{"q": {}, "limit": 0}]})
        self.load("--reload-missing", "--shard-key", "v", "a.csv", status=1)
        self.assertIn("go with 'v'", self.stderr)
        self.assertEqual({}, self.off())


class Names(Changes):
    """What a load has changed belongs to the collection that it loads, whatever that is called by now."""

    def killed(self):
        load = self.loading()
        load.kill()
        load.communicate()
        self.assertEqual({"results": True}, self.off())
        self.shorten_lease(1)
        self.assertTrue(livetest.wait_for(lambda: not json.loads(self.status("--json"))["loads_running"]))

    def is_clean(self, **off):
        tags = [tag for shard in self.config("shards") for tag in shard.get("tags", []) if self.name in tag]
        ranges = [entry for entry in self.config("tags") if entry["ns"].startswith(self.database + ".")]
        self.assertEqual((off, [], []), (self.off(), ranges, tags))

    def test_renamed_behind_a_killed_load(self):
        self.killed()
        self.rename()
        self.assertIn("turned balancing off", self.status())
        self.assertIn("is balanced again", self.status("--restore"))
        self.is_clean(other=False)

    def test_renamed_meanwhile(self):
        load = self.loading()
        self.rename()
        self.ended(load, "was dropped, .*another name")
        self.assertEqual(2000, len(self.documents("other")))
        self.assertEqual([], self.documents())
        self.is_clean(other=False)

    def test_another_collection_of_the_name(self):
        """made by a user, who has turned its balancing off: it stays off, and the load's own is on again"""
        self.killed()
        self.rename()
        self.shard(v=1)
        self.switch(True)
        self.assertEqual("held", json.loads(self.status("--json"))["balancing"])
        self.status("--restore")
        self.is_clean(results=True, other=False)
        self.assertEqual("off", json.loads(self.status("--json"))["balancing"])

    def test_resharded_meanwhile(self):
        """It is another collection by its UUID, and who has turned off its balancing cannot be known: it stays off."""
        load = self.loading()
        self.reshard(k=1)
        self.ended(load, "was dropped, .*another name")
        self.assertIn("no load has noted", self.status())
        self.is_clean(results=True)
        self.load("a.csv", status=1)
        self.assertIn("--same-collection", self.stderr)
        self.load("--same-collection", "a.csv")

    def test_dropped_while_a_person_had_turned_it_off(self):
        """another collection of the name: it is off because of the user, whatever the catalog has noted of the old one"""
        self.killed()
        self.rename()
        self.shard(v=1)
        self.switch(True)
        self.load("--drop", "--yes", "a.csv")
        self.is_clean(other=False, results=True)

class Hidden(Changes):
    """A user who may not read by which key a collection is sharded."""
    server = "cluster-auth"

    def setUp(self):
        super().setUp()
        self.as_loader = "--uri", self.user({"role": "readWrite", "db": self.database})

    def test_sharded(self):
        """by a key that nobody can see: refused where equal _ids would not be noticed, and only there"""
        self.shard(v=1)
        self.load(*self.as_loader, "--id", "k", "a.csv", status=1)
        self.assertIn("by which key", self.stderr)
        self.assertEqual(0, len(self.documents()))
        self.load(*self.as_loader, "a.csv")
        self.assertEqual(2000, len(self.documents()))

    def test_status(self):
        """what this user may not see is null, and no number"""
        self.load("a.csv")
        self.switch(True)
        names = "sharded", "shards", "zones", "zone_tags", "other_zones", "balancing"
        seen = json.loads(self.status("--json"))
        self.assertEqual((True, 0, 0, 0, "off"), tuple(seen[name] for name in names if name != "shards"))
        self.assertEqual(2, len(seen["shards"]))
        hidden = json.loads(self.tipple("status", *self.as_loader, "--json").stdout)
        self.assertEqual((None,) * 6, tuple(hidden[name] for name in names))
        self.assertEqual(2000, hidden["documents"])


if __name__ == "__main__":
    livetest.main()
