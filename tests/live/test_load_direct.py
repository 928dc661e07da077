"""Loads straight to the shards of a cluster: nothing is lost when chunks move or members go.  needs: cluster"""
import contextlib
import gzip
import json
import random
import tempfile

import livecluster
import livetest
import minimongo as mongo
import relay
from livetest import Books, rows

import mongods

TEXT = rows(6000, 1, bad={70})


def without_version(message):
    """An OP_MSG whose command has lost its shardVersion."""
    if message[12:16] != (2013).to_bytes(4, "little") or b"shardVersion" not in message:
        return message
    length = int.from_bytes(message[21:25], "little")
    command = mongo.decode(message[21:21 + length])
    command.pop("shardVersion", None)
    message = message[:21] + mongo.encode(command) + message[21 + length:]
    return len(message).to_bytes(4, "little") + message[4:]


class Direct(livecluster.Cluster):
    def whole(self, count):
        """Every document is found through the router, and lies on one shard only."""
        lying = [{document["_id"] for document in self.on_shard(name)} for name in self.names()]
        self.assertEqual(sum(map(len, lying)), count)
        self.assertEqual(len(set.union(*lying)), count)

    def test_by_id(self):
        packed = gzip.compress(TEXT, 1)
        self.write("a.csv", TEXT)
        self.write("b.csv.gz", packed)
        counts = self.load("--direct", "a.csv", "b.csv.gz", status=2)
        self.holds(Books().plain("a.csv", TEXT).gzip("b.csv.gz", TEXT, packed))
        self.shares(counts)
        self.assertEqual(counts["routers"], [])
        self.whole(11998)
        self.clean()
        self.assertEqual(self.load("--direct", "a.csv", "b.csv.gz", status=2)["read"], 0)
        self.clean()

    def test_a_chunk_inside_a_block(self):
        """A block whose two ends lie on one shard, with a chunk of another shard between them: each document goes to
        the shard that owns its chunk, or no query would find it."""
        first, second = rows(2000, 2), rows(4000, 3)
        self.write("a.csv", first)
        self.write("b.csv", second)
        self.load("--direct", "a.csv")
        books = Books().plain("a.csv", first).plain("b.csv", second)
        block = sorted(number for number, (offset, _, _) in books.files[1].places.items() if offset < livetest.WINDOW)
        name = "%s.results" % self.database
        bounds = block[len(block) // 3], block[2 * len(block) // 3]
        for bound in bounds:
            self.client.command("admin", {"split": name, "middle": {"_id": mongo.Int64(bound)}})
        owner, = [chunk["shard"] for chunk in self.chunks() if chunk["min"]["_id"] == bounds[0]]
        other, = set(self.names()) - {owner}
        self.client.command("admin", {"moveChunk": name, "find": {"_id": mongo.Int64(bounds[0])}, "to": other})
        counts = self.load("--direct", "b.csv")
        self.assertEqual(4000, counts["loaded"])
        self.holds(books)
        self.whole(6000)
        inside = {number for number in block if bounds[0] <= number < bounds[1]}
        self.assertGreater(len(inside), 100)
        self.assertEqual(inside, inside & {document["_id"] for document in self.on_shard(other)})

    def test_other_keys(self):
        """A document that goes to the wrong shard would be lost: keys of strings, numbers, dates, and hashes."""
        self.write("a.csv", TEXT)
        for number, key in enumerate(("d,k", "k,v:hashed", "d:hashed,m")):
            name = "by%d" % number
            counts = self.load("--direct", "--shard-key", key, "a.csv", status=2, collection=name)
            self.assertEqual(counts["unrouted"], 0)
            self.holds(Books().plain("a.csv", TEXT), collection=name)
            there = self.shares(counts, name)
            self.assertEqual(sum(there.values()), 5999)

    def test_keys_of_rare_types(self):
        """What a server hashes in a way of its own goes through the router."""
        keys = [lambda n: n, lambda n: {"$code": "f", "$scope": {"x": n}}, lambda n: {"u": {"$undefined": True}, "x": n},
                lambda n: {"$numberDecimal": str(n)}, lambda n: {"$timestamp": {"t": n, "i": 1}},
                lambda n: {"a": [{"$symbol": str(n)}, {"$code": str(n)}]}]
        self.write("a.json", "".join(json.dumps({"i": n, "k": keys[n % 6](n)}) + "\n" for n in range(1200)).encode())
        words = "--uri", self.uri("rare"), "a.json"
        done = self.tipple("load", "--direct", "--shard-key", "k:hashed", "--json", *words)
        self.assertEqual([1200, 1000], [json.loads(done.stdout)[key] for key in ("loaded", "unrouted")])
        self.assertEqual(1200, json.loads(self.tipple("verify", "--json", *words).stdout)["as_expected"])

    def test_where_versions_are_not_looked_at(self):
        """Something before a shard that does not pass the version on: after a move, documents would be lost."""
        port, = [member["port"] for member in self.state["members"] if member["set"] == "s1"]
        address = b"127.0.0.1:%d" % port
        shard = relay.Relays([port], change=without_version)
        self.addCleanup(shard.close)
        self.refused_by(address, shard.names[address], "--direct: the shard s1: .*acknowledged")

    def test_where_versions_are_not_known(self):
        """A server that is no shard."""
        port, = [member["port"] for member in self.state["members"] if member["set"] == "s1"]
        with tempfile.TemporaryDirectory(dir=".") as folder:
            self.addCleanup(mongods.stop, folder, gently=False)
            for _ in range(20):
                other = random.randrange(2000, 9999)  # of four digits: the address is to be as long as that of s1
                with contextlib.suppress(mongods.Error):  # someone else's
                    mongods.start(folder, replset=1, port=other, tied=True)
                    break
            self.refused_by(b"s1/127.0.0.1:%d" % port, b"rs0/127.0.0.1:%d" % other, "--direct: the shard s1: .*sharding")
            with mongo.Client("mongodb://127.0.0.1:%d/?directConnection=true" % other) as there:
                self.assertEqual(there.count(self.database, "results"), 0)
            mongods.stop(folder, gently=False)

    def refused_by(self, address, instead, pattern):
        """A load whose router has another address of a shard is refused, and nothing was loaded."""
        self.write("a.csv", TEXT)
        self.assertEqual(len(address), len(instead))
        router, = [member["port"] for member in self.state["members"] if member["name"] == "r0"]
        before = relay.Relays([router], names={address: instead})
        self.addCleanup(before.close)
        uri = before.rename("mongodb://127.0.0.1:%d/%s.results" % (router, self.database))
        done = self.tipple("load", "--format", "mot", "--uri", uri, "--direct", "a.csv", status=1)
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(self.client.count(self.database, "results"), 0)
        self.clean()

    def test_dropped_meanwhile(self):
        """Each insert says which collection it means, also past the routers: none makes another one of its name."""
        text = rows(20000, 3)
        self.write("a.csv", text)
        for words in ((), ("--direct",)):
            load = self.start_held(*words, "-j", 1, "--max-rate", 2000, "a.csv", "--drop", "--yes")
            self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 500))
            self.client.command(self.database, {"drop": "results"})
            said = load.communicate(timeout=livetest.LONG)[1].decode()
            self.assertEqual(4, load.returncode, said)
            self.assertRegex(said, "was dropped.*while")
            self.assertEqual(0, self.client.count(self.database, "results"))
            self.assertEqual([], self.on_shard("s0") + self.on_shard("s1"))

    @livetest.nightly
    def test_chunks_that_move(self):
        """Chunks go to and fro while the load runs, also such that nobody writes to at the moment."""
        text, rest = rows(12000, 5), rows(20000, 6)
        self.write("a.csv", text)
        with self.moving(("s0", 3 << 61), ("s1", 5), ("s1", 3 << 61), ("s0", 5)) as moved:
            load = self.start_held("--direct", "-b", "100", "a.csv")
            self.assertTrue(livetest.wait_for(lambda: len(moved) > 1 or load.poll() is not None))
            out, said = load.communicate(rest, timeout=livetest.LONG)  # which find chunks where they were not before
        self.assertEqual(0, load.returncode, said.decode())
        self.assertGreater(len(moved), 1)
        self.holds(Books().plain("a.csv", text).stream("-", rest))
        self.whole(32000)


if __name__ == "__main__":
    livetest.main()
