"""Loads of sharded clusters: placed before the first byte, one shard a batch, no remains.  needs: cluster"""
import gzip

import livetest
import minimongo as mongo
from livecluster import Cluster
from livetest import Books, rows

TEXT = rows(20000, 1, bad={70})  # enough to be shared evenly
SOME = rows(6000, 1, bad={70})


class Placed(Cluster):
    def test_by_id(self):
        """Half of the lanes on each shard before the first byte; a second run loads nothing."""
        text = TEXT
        self.write("a.csv", text)
        counts = self.load("a.csv", status=2)
        self.holds(Books().plain("a.csv", text))
        there = self.shares(counts)
        block = livetest.WINDOW // (len(text) // 20000) + 1
        self.assertLessEqual(abs(there["s0"] - there["s1"]), 2 * block, there)
        self.assertEqual(len(self.chunks()), 2)
        self.clean()
        again = self.load("a.csv", status=2)
        self.assertEqual(again["read"], 0)
        self.clean()

    def test_odd_bounds(self):
        """Values that no zone may have as a bound: the server's words."""
        self.write("odd.json", "".join('{"_id": %d, "s": {"$gt": %d}}\n' % (i, i) for i in range(500)))
        done = self.tipple("load", "--uri", self.uri("odd"), "-f", "json", "--id", "_id", "--shard-key", "s", "odd.json", status=1)
        self.assertIn("--shard-key none", done.stderr)

    def test_long_names(self):
        """The longest name that can be sharded; of one that is longer the server says so, and no zones are left."""
        self.write("a.csv", TEXT[:TEXT.index(b"\n", 5000) + 1])
        longest = "c" * (235 - len(self.database) - 1)
        for more in (1, 6):
            for words in ((), ("--drop", "--yes")):
                self.load(*words, "a.csv", status=4 if words else 1, collection=longest + "c" * more)
                self.assertIn("too long", self.stderr)
                self.assertEqual([], self.config("tags", filter={"ns": self.database + "." + longest + "c" * more}))
        self.load("a.csv", status=(0, 2), collection=longest)
        self.assertEqual(1, len(self.config("collections", filter={"_id": self.database + "." + longest})))
        self.load("--shard-key", "none", "a.csv", status=(0, 2), collection=longest + "c" * 6)

    def test_damaged_by_a_hash(self):
        """The document of a damaged record lies on a shard that refuses nothing to the right one: it is found out."""
        text = rows(2000)
        packed = gzip.compress(text, 0)
        at = packed.index(b"|FORD|", len(packed) // 2)
        for wrong in (b"|FIRD|", b"|FXRD|", b"|FYRD|"):  # one of them on another shard, most likely
            self.write("a.gz", packed[:at] + wrong + packed[at + 6:])
            self.load("--shard-key", "k:hashed", "--drop", "--yes", "a.gz", status=5)
            self.write("a.gz", packed)
            counts = self.load("a.gz", status=2)
            self.assertEqual((1999, 1), (counts["already_there"], counts["rejected"]))
            self.assertEqual(2000, self.client.count(self.database, "results"))
            self.assertEqual(1, self.client.count(self.database, "results", {"k": wrong.strip(b"|").decode()}))

    def test_killed(self):
        """What a load that was killed leaves is reported and taken away; the load goes on as if nothing was."""
        text = rows(8000, 6)
        self.write("a.csv", text)
        load = self.start_held("-b", "50", "-j", "2", "a.csv")
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 200))
        load.kill()
        load.wait()
        self.assertEqual([], self.config("tags", filter={"ns": self.database + ".results"}))
        said = self.tipple("status", "--uri", self.uri()).stdout
        self.assertIn(b"turned balancing off", said)
        said = self.tipple("status", "--uri", self.uri(), "--restore").stdout
        self.assertIn(b"balanced again", said)
        self.clean()
        self.load("a.csv")
        self.holds(Books().plain("a.csv", text))
        self.clean()


class Taken(Cluster):
    """Collections that someone else has sharded."""

    def shard(self, key, splits, owners):
        """Sharded by hand: chunks that begin at `splits`, each on its owner."""
        name = "%s.results" % self.database
        self.client.command("admin", {"shardCollection": name, "key": key})
        for at in splits:
            self.client.command("admin", {"split": name, "middle": at})
        for at, owner in zip(splits, owners):
            try:
                self.client.command("admin", {"moveChunk": name, "find": at, "to": owner})
            except mongo.CommandError as error:
                if "is already" not in str(error) and error.code != 0:
                    raise

    def test_by_lanes_of_their_own(self):
        """Chunks that end in the middle of a block."""
        ends = [{"_id": mongo.Int64(position)} for position in (30000, 1 << 61, (1 << 62) + 777)]
        self.shard({"_id": 1}, ends, ["s1", "s0", "s1"])
        self.write("a.csv", SOME)
        counts = self.load("a.csv", status=2)
        self.holds(Books().plain("a.csv", SOME))
        self.shares(counts)

    def test_a_map_that_is_cut_off(self):
        """More chunks than one reply holds, and the connection is lost before the second: they are read anew."""
        self.shard({"_id": 1}, [{"_id": mongo.Int64(number << 52)} for number in range(110, 0, -1)], ["s0", "s1"])
        self.write("a.csv", SOME)
        self.own_router()
        self.faults(fault={"do": "drop", "command": "getMore", "count": 1})
        counts = self.load("a.csv", status=2)
        self.holds(Books().plain("a.csv", SOME))
        self.shares(counts)


if __name__ == "__main__":
    livetest.main()
