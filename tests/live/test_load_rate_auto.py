"""--max-rate auto on replica sets and clusters, where a user may only write, and next to a reader.  needs: none"""
import os
import signal
import time

import livecluster
import livetest
from livetest import Books, rows

TEXT = rows(3000, 3, bad={77})
AUTO = ("--max-rate", "auto")


class Writer(livetest.Case):
    server = "replset-auth"

    def test_who_may(self):
        """it asks the server for nothing: a user who may write is enough"""
        self.write("a.csv", TEXT)
        uri = self.user({"role": "readWrite", "db": self.database})
        self.load("a.csv", *AUTO, "--uri", uri, status=2)
        self.holds(Books().plain("a.csv", TEXT))


class Lag(livetest.OwnServer):
    options = {"replset": 3}

    def signal_secondaries(self, number):
        for member in self.state["members"]:
            if member["port"] != self.primary:
                os.kill(member["pid"], number)

    def test_secondaries_that_stand_still(self):
        """while no majority takes a batch, the load sends no other one; then it goes on"""
        text = rows(20000)
        self.write("a.csv", text)
        self.primary = int(self.client.command("admin", {"hello": 1})["primary"].rpartition(":")[2])
        load = self.start("a.csv", *AUTO, "-j", 4)
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 2000))
        self.signal_secondaries(signal.SIGSTOP)
        try:
            before = self.client.count(self.database, "results")
            time.sleep(3)
            self.assertIsNone(load.poll())
            self.assertLessEqual(self.client.count(self.database, "results") - before, 2 * 4 * 100)
        finally:
            self.signal_secondaries(signal.SIGCONT)
        out, said = load.communicate(timeout=livetest.LONG)
        self.assertEqual(0, load.returncode, said)
        self.holds(Books().plain("a.csv", text))


class Shards(livecluster.Cluster):

    def test_each_has_a_limit(self):
        self.write("a.csv", TEXT)
        for number, words in enumerate(((), ("--direct",), ("--shard-key", "v:hashed"), ("--shard-key", "none"))):
            name = "c%d" % number
            counts = self.load("a.csv", *AUTO, *words, collection=name, status=2)
            self.holds(Books().plain("a.csv", TEXT), name)
            if words != ("--shard-key", "none"):
                self.shares(counts, name)
            self.assertGreater(counts["throttled_seconds"], 0)
        self.clean()


if __name__ == "__main__":
    livetest.main()
