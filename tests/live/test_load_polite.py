"""--polite where servers do not tell how they fare, or where there are several of them.  needs: none"""
import urllib.parse

import live
import livecluster
import livetest
import mongods
from livetest import Books, rows

TEXT = rows(12000, 3, bad={77})


def as_user(uri, name, password):
    """The URI with another login, by the admin database."""
    base, _, query = uri.partition("@")[2].partition("?")
    options = {**dict(urllib.parse.parse_qsl(query)), "authSource": "admin"}
    return "mongodb://%s:%s@%s?%s" % (name, password, base, urllib.parse.urlencode(options, safe="/"))


class Secretive(livetest.OwnServer):
    options = {"auth": True, "replset": 1}

    def user(self, name, *roles):
        self.client.command("admin", {"createUser": name, "pwd": "pw", "roles": [
            {"role": "readWrite", "db": self.database}, *roles]})
        self.addCleanup(self.client.command, "admin", {"dropUser": name})
        return as_user(self.uri(), name, "pw")

    def test_who_may_not_ask(self):
        """a user without serverStatus: a note that says what would help, and everything is loaded"""
        self.write("a.csv", TEXT)
        counts = self.load("a.csv", "--polite", "--uri", self.user("plain"), status=2)
        self.assertRegex(self.stderr, r"(?m)^the server will not say how hard it is at work \(.*clusterMonitor.*\): "
                                      r"--polite goes by the time that batches take$")
        self.holds(Books().plain("a.csv", TEXT))
        self.assertGreater(counts["throttled_seconds"], 0)

    def test_who_may(self):
        self.write("a.csv", TEXT)
        self.load("a.csv", "--polite", "--uri", self.user("monitor", "clusterMonitor"), status=2)
        self.told_all()
        self.holds(Books().plain("a.csv", TEXT))


class Shards(livecluster.Cluster):
    options = {"shards": 2, "replicas": 1, "routers": 1}

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


class SecretiveShards(livecluster.Cluster):
    options = {"shards": 2, "replicas": 1, "routers": 1, "auth": True}

    def login(self, name, *roles):
        self.client.command("admin", {"createUser": name, "pwd": "pw", "roles": [
            {"role": "readWrite", "db": self.database}, *({"role": role, "db": "admin"} for role in roles)]})
        return as_user(self.uri(), name, "pw")

    def test_who_may_not_ask(self):
        """a user who may spread a collection, but not ask the shards how they fare"""
        self.write("a.csv", TEXT)
        self.load("a.csv", "--polite", "--uri", self.login("manager", "clusterManager"), status=2)
        self.assertRegex(self.stderr, r"the shard s0 and 1 more will not say how hard they are at work \(.*clusterMonitor")
        self.assertNotIn("take there", self.stderr)
        self.holds(Books().plain("a.csv", TEXT))

    def test_who_may_not_know_the_shards(self):
        """a user who may write, and nothing else"""
        self.write("a.csv", TEXT)
        self.load("a.csv", "--polite", "--shard-key", "none", "--uri", self.login("writer"), status=2)
        self.assertRegex(self.stderr, r"the cluster's shards are not known \(.*clusterMonitor.*\): --polite goes by the time")
        self.holds(Books().plain("a.csv", TEXT))

    def test_who_is_not_known_there(self):
        """a user whom one of the shards does not know"""
        self.write("a.csv", TEXT)
        uri = self.login("admin", "clusterAdmin")
        with self.shard_client("s1") as shard:
            shard.command("admin", {"dropUser": "admin"})
        self.load("a.csv", "--polite", "--uri", uri, status=2)
        self.assertRegex(self.stderr, r"the shard s1 will not say how hard it is at work \(.*log in.*\).*batches take there")
        self.holds(Books().plain("a.csv", TEXT))


if __name__ == "__main__":
    livetest.main(quick=())
