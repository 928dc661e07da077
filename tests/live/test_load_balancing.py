"""What loads do to a cluster besides writing: zones, balancing, and collections that are spread badly.  needs: none"""
import signal
import subprocess

import livecluster
import livetest
from livetest import Books, rows


class Balancing(livecluster.OwnCluster):
    options = {"shards": 3, "replicas": 1, "routers": 1}

    def name(self):
        return self.database + ".results"

    def off(self):
        entry, = self.config("collections", filter={"_id": self.name()})
        return bool(entry.get("noBalance"))

    def status(self, *words, **more):
        return self.tipple("status", "--uri", self.uri(), *words, **more).stdout.decode()

    def begun(self, name, seed):
        text = rows(6000, seed)
        self.write(name, text)
        load = self.start_held("-b", "50", "-j", "2", name)
        self.assertTrue(livetest.wait_for(lambda: load.poll() is not None or self.off_during()))
        self.assertIsNone(load.poll())
        return load, text

    def off_during(self):
        there = self.config("collections", filter={"_id": self.name()})
        return there and there[0].get("noBalance") and self.client.count(self.database, "results") > 200

    def test_off_while_a_load_runs(self):
        load, text = self.begun("a.csv", 2)
        self.assertEqual(len(self.config("tags", filter={"ns": self.name()})), 0)
        said = self.status()
        self.assertIn("loads   1 running", said)
        self.assertNotIn("--restore", said)
        done = self.tipple("status", "--uri", self.uri(), "--restore", status=1)
        self.assertIn("is running", done.stderr)
        self.assertTrue(self.off())
        _, said = load.communicate(timeout=livetest.LONG)
        self.assertEqual(load.returncode, 0, said.decode())
        self.holds(Books().plain("a.csv", text))
        self.clean()

    def test_the_last_of_two_loads_puts_things_back(self):
        """The first one ends while the second one is under way, and leaves it what it needs."""
        load, _ = self.begun("long.csv", 3)
        self.write("short.csv", rows(200, 4))
        self.load("short.csv")
        self.assertIsNone(load.poll(), "the long load has ended too early")
        self.assertTrue(self.off())
        load.send_signal(signal.SIGINT)
        load.communicate(timeout=livetest.LONG)
        self.clean()

    def forgets(self):
        return [load for load in self.documents("results.tipple.loads") if load["command"] == "forget"]

    def test_a_load_ends_beside_forget(self):
        """which puts nothing back"""
        self.write("old.csv", rows(200, 8))
        self.load("old.csv")
        load, _ = self.begun("a.csv", 9)
        forget = subprocess.Popen(self.command("forget", "--delete", "--yes", "old.csv", "--uri", self.uri()), cwd=self.folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(forget.communicate)
        self.addCleanup(forget.kill)
        self.assertTrue(livetest.wait_for(self.forgets))
        _, said = load.communicate(timeout=livetest.LONG)
        self.assertEqual(load.returncode, 0, said.decode())
        self.assertIsNone(forget.poll(), "forget has ended too early")
        self.clean()

    # ---- collections that were sharded before

    def owners(self):
        return [chunk["shard"] for chunk in self.chunks()]

    def test_ids_of_the_data(self):
        """lanes show nothing of them: what is even is not called uneven"""
        self.write("a.json", "".join('{"_id": %d}\n' % i for i in range(1, 20001)))
        done = self.tipple("load", "--uri", self.uri(), "a.json")
        self.assertNotIn("will wait", done.stderr)
        self.assertEqual(["s0", "s1", "s2"], sorted(self.owners()))


if __name__ == "__main__":
    livetest.main()
