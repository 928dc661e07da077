"""A sharded collection compared with its files: through the router, so that each document counts once.
needs: cluster"""
import contextlib
import threading

import livecluster
import livetest
import liveverify
import minimongo as mongo
from liveverify import flipped, readings
from minimongo import Int64


class Sharded(liveverify.Case, livecluster.Cluster):
    ROWS = 30_000

    def fill(self, *words):
        self.put("a.csv", readings(self.ROWS))
        self.put("b.csv", readings(500, 10**7))
        self.load("a.csv", "b.csv", *words)
        self.names = ("a.csv", "b.csv")

    def home_of(self, number):
        """The shard that holds a document, and the other one."""
        home, = [name for name in self.names_of_shards() if self.on_shard(name, filter={"_id": Int64(number)})]
        other, = [name for name in self.names_of_shards() if name != home]
        return home, other

    def names_of_shards(self):
        return livecluster.Cluster.names(self)

    def each_alone(self):
        for words in ((), ("-j", 1), ("--sample", 50)):
            self.finds([], *self.names, *words)
        line = self.ROWS // 2
        number = self.id_at("a.csv", line)
        value = self.document(number)["v"]
        self.set(number, v=flipped(value))
        self.finds([("changed", "a.csv", line)], *self.names)
        self.set(number, v=value)
        gone = self.remove(number)
        self.finds([("missing", "a.csv", line)], *self.names)
        self.insert({**gone[0], "_id": Int64(number + 1)})
        self.finds([("missing", "a.csv", line), ("extra", "a.csv", line)], *self.names)
        self.remove(number + 1)
        self.insert(*gone)
        self.insert({**gone[0], "_id": "mine"})
        self.finds([("unrelated", '"mine"')], *self.names)
        self.client.command(self.database, {"delete": "results", "deletes": [{"q": {"_id": "mine"}, "limit": 1}]})
        said = self.finds([], *self.names)
        self.assertEqual((self.ROWS + 500,) * 2, (said["as_expected"], said["documents_in_collection"]))

    def test_past_the_routers(self):
        """straight to a shard: refused, since nobody there says which documents count"""
        self.fill()
        for member in self.state["members"]:
            if member["role"] == "shard":
                uri = "mongodb://127.0.0.1:%d/%s.results?directConnection=true" % (member["port"], self.database)
                for words in (self.verify_words("a.csv"), ("load", "-f", "mot", "a.csv"), ("forget", "a.csv")):
                    said = self.tipple(*words, "--uri", uri, status=1).stderr
                    self.assertIn("one shard (%s) of" % member["set"], said)
                fresh = uri.replace(".results?", ".fresh?")
                said = self.tipple("load", "-f", "mot", "a.csv", "--uri", fresh, status=1).stderr
                self.assertIn("one shard (%s) of" % member["set"], said)

    def test_by_a_hash(self):
        """sharded on another field: each difference alone, though every block is on both shards"""
        self.fill("--shard-key", "k:hashed")
        self.each_alone()

    def test_not_sharded(self):
        """a collection that lives on one shard of a cluster"""
        self.fill("--shard-key", "none")
        self.finds([], *self.names)

    def test_duplicated(self):
        """one _id on two shards, which a key other than _id allows: duplicated, and which of both is the right one"""
        self.fill("--shard-key", "k:hashed")
        for line in (2, self.ROWS + 1):
            number = self.id_at("a.csv", line)
            document = self.document(number)
            home, other = self.home_of(number)
            theirs = self.on_shard(other, limit=1)[0]["k"]  # a key of that shard
            with self.shard_client(other) as shard:
                self.insert({**document, "k": theirs}, client=shard)
                entry, = self.finds([("duplicated", "a.csv", line)], *self.names)["differences"]
                self.assertEqual(("k", '"%s"' % theirs, '"%s"' % document["k"]), tuple(
                    entry[field] for field in ("field", "stored", "expected")))
                with self.shard_client(home) as own:  # only the wrong one is left, then another one next to it
                    self.set(number, client=own, v=1.25)
                    said = self.finds([("duplicated", "a.csv", line), ("changed", "a.csv", line)], *self.names)
                    self.assertEqual(self.ROWS + 501, said["documents"])
                    self.set(number, client=own, v=document["v"])
                self.remove(number, client=shard)
        self.finds([], *self.names)

    def test_orphans(self):
        """copies that a shard does not own count for nothing, as for every query"""
        for words in ((), ("--shard-key", "k:hashed")):
            self.fill(*words, "--drop", "--yes")
            number = self.id_at("a.csv", 1234)
            document = self.document(number)
            _, other = self.home_of(number)
            with self.shard_client(other) as shard:
                self.insert(document, client=shard)
                said = self.finds([], *self.names)
                self.assertEqual(self.ROWS + 500, said["documents_in_collection"])
                self.remove(number, client=shard)

    @livetest.nightly
    def test_while_chunks_move(self):
        """chunks that move meanwhile: nothing is missing, nothing is seen twice"""
        self.fill()
        name, stop, moves = self.database + ".results", threading.Event(), []

        def move():
            with mongo.Client(self.state["uri"]) as client:
                while not stop.is_set():
                    for owner in self.names_of_shards():
                        with contextlib.suppress(mongo.CommandError):
                            client.command("admin", {"moveChunk": name, "find": {"_id": Int64(5)}, "to": owner})
                            moves.append(owner)
        thread = threading.Thread(target=move)
        thread.start()
        try:
            rounds = 0
            while rounds < 5 or (len(moves) < 4 and rounds < 60):
                said = self.finds([], *self.names)
                self.assertEqual(self.ROWS + 500, said["documents"])
                rounds += 1
        finally:
            stop.set()
            thread.join()
        self.assertGreater(len(moves), 1)


class Reader(liveverify.Case):
    server = "standalone-auth"

    def test_read_is_enough(self):
        """a user who may only read the database; one who may not even that is informed of it"""
        self.put("a.csv", readings(5000))
        self.load("a.csv")
        uri = self.user({"role": "read", "db": self.database})
        before = self.everything()
        self.finds([], "a.csv", "--uri", uri)
        self.assertEqual(before, self.everything())
        self.client.command("admin", {"updateUser": self.database, "roles": []})
        self.verify("a.csv", "--uri", uri, status=1)
        self.assertRegex(self.stderr, "the user '%s' may not" % self.database)


if __name__ == "__main__":
    livetest.main()
