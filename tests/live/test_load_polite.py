"""--polite where servers do not tell how they fare, or where there are several of them.  needs: none"""
import livecluster
import livetest
from livetest import Books, rows

TEXT = rows(12000, 3, bad={77})


class Users(livetest.Case):
    def writer(self, *roles):
        """The URI of a user who may write, and what these roles of admin allow."""
        return self.user({"role": "readWrite", "db": self.database}, *roles)


class Secretive(Users):
    server = "replset-auth"

    def test_who_may(self):
        self.write("a.csv", TEXT)
        self.load("a.csv", "--polite", "--uri", self.writer("clusterMonitor"), status=2)
        self.told_all()
        self.holds(Books().plain("a.csv", TEXT))


class Shards(livecluster.Cluster):

    def test_each_is_asked(self):
        self.write("a.csv", TEXT)
        for number, words in enumerate(((), ("--direct",), ("--shard-key", "v:hashed"), ("--shard-key", "none"))):
            name = "c%d" % number
            counts = self.load("a.csv", "--polite", *words, collection=name, status=2)
            self.told_all()
            self.holds(Books().plain("a.csv", TEXT), name)
            if words != ("--shard-key", "none"):
                self.shares(counts, name)
            self.assertGreater(counts["throttled_seconds"], 0)
        self.clean()


class SecretiveShards(Users, livecluster.Cluster):
    server = "cluster-auth"

    def test_who_may_not_ask(self):
        """a user who may spread a collection, but not ask the shards how they fare"""
        self.write("a.csv", TEXT)
        self.load("a.csv", "--polite", "--uri", self.writer("clusterManager"), status=2)
        self.assertRegex(self.stderr, r"shard s0 and 1 more .*clusterMonitor")
        self.assertNotIn("take there", self.stderr)
        self.holds(Books().plain("a.csv", TEXT))

    def test_who_may_not_know_the_shards(self):
        """a user who may write, and nothing else"""
        self.write("a.csv", TEXT)
        self.load("a.csv", "--polite", "--shard-key", "none", "--uri", self.writer(), status=2)
        self.assertRegex(self.stderr, r"shards are .*clusterMonitor.*--polite")
        self.holds(Books().plain("a.csv", TEXT))

    def test_who_is_not_known_there(self):
        """a user whom one of the shards does not know"""
        self.write("a.csv", TEXT)
        uri = self.writer("clusterAdmin")
        with self.shard_client("s1") as shard:
            shard.command("admin", {"dropUser": self.database})
        self.load("a.csv", "--polite", "--uri", uri, status=2)
        self.assertRegex(self.stderr, r"shard s1 .*log in.*take there")
        self.holds(Books().plain("a.csv", TEXT))


if __name__ == "__main__":
    livetest.main()
