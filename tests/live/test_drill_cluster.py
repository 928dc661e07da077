"""tipple drill on a cluster of two shards: placed, loaded, verified; nothing is left, no zone either.
needs: cluster"""
import re
import shlex
import signal

import livecluster
import livedrill
import livetest
import minimongo


class DrillCluster(livedrill.Mixin, livecluster.Cluster):
    def sharded(self, name):
        return self.config("collections", filter={"_id": "%s.%s" % (self.database, name)})

    def test_whole(self):
        """placing is a phase of its own; the scratch collection and its zones are gone"""
        said = self.drill("--no-predict", "--index", "k:1", "a.csv")
        drill, = said["drills"]
        self.adds_up(drill, self.ROWS, predicted=False)
        self.assertEqual(set(livedrill.PHASES), set(self.phases(drill)))
        self.assertGreater(self.phases(drill)["place"]["seconds"], 0.001)
        self.assertEqual([], self.config("collections", filter={"_id": {"$regex": "tipple.drill"}}))
        self.assertIn("drill: placing", self.stderr)
        self.clean()

    def test_named_twice(self):
        """the target is dropped and is there again, on the same key, on both shards; under another name it is not"""
        self.load("--shard-key", "t:hashed", "a.csv")
        before = self.everything()
        self.assertIsNone(self.drill("--drop", self.database + ".other", "a.csv", status=1))
        self.assertEqual(before, self.everything())
        said = self.drill("--no-predict", "--drop", self.database + ".results", "a.csv", touches=True)
        self.adds_up(said["drills"][0], self.ROWS, predicted=False)
        self.assertNotEqual(before["results"][0], self.everything()["results"][0])
        self.assertEqual(*[sorted(raw[17:] for raw in target["results"][1]) for target in (before, self.everything())])
        self.assertEqual({"t": "hashed"}, self.sharded("results")[0]["key"])
        there = [len(self.on_shard(name)) for name in self.names()]
        self.assertEqual(self.ROWS, sum(there))
        self.assertGreater(min(there), 0)
        self.clean()

    def test_named_for_the_next_one(self):
        """of a drill that is killed behind the drop"""
        words = self.drill_words("--no-predict", "--drop", self.database + ".results", "a.csv")
        self.load("--shard-key", "t:hashed", "--create", '{"clusteredIndex": false}', "--compressor", "zlib", "--index", "k:1", "a.csv")
        said = self.tipple(*words).stderr
        options = shlex.split(re.search("next one, too:(.*)", said)[1])
        for name in "results", "results.tipple.files", "results.tipple.loads":
            self.client.command(self.database, {"drop": name})
        again = self.tipple(*words, *options)
        self.assertNotIn("to the next one", again.stderr)
        self.assertEqual({"t": "hashed"}, self.sharded("results")[0]["key"])
        there, = [entry for entry in self.client.command(self.database, {"listCollections": 1})["cursor"]["firstBatch"]
                  if entry["name"] == "results"]
        self.assertNotIn("clusteredIndex", there["options"])
        self.assertIn("zlib", str(there["options"]["storageEngine"]))

    def test_bounds_that_cannot_be_put_in_order(self):
        """the key is known all the same, and stays"""
        name = self.database + ".results"
        self.load("--shard-key", "t", "a.csv")
        self.client.command("admin", {"split": name, "middle": {"t": minimongo.Decimal128.parse("0.5")}})
        self.drill("--no-predict", "--drop", name, "a.csv", touches=True)
        self.assertEqual({"t": 1}, self.sharded("results")[0]["key"])

    @livetest.nightly
    def test_scale_direct(self):
        """--scale, past the routers"""
        said = self.drill("--scale", "2m", "--sample", "800", "--direct", "a.csv")
        self.assertEqual(("scale", 2000000, 12), (said["mode"], said["documents"], len(said["samples"])))
        self.assertIsNotNone(self.phases(said["drills"][0])["place"]["predicted"])
        self.clean()

    def test_interrupted(self):
        """Ctrl-C while it is loaded: no collection and no zone is left"""
        self.write("a.csv", livetest.rows(60000, 3))
        process = self.start("--no-predict", "--batch", "5", "--threads", "1", "a.csv")
        self.assertTrue(self.heard(process, "drill: loading"))
        process.send_signal(signal.SIGINT)
        status, _, said = self.ended(process)
        self.assertEqual(-signal.SIGINT, status, said)
        self.assertEqual(([], {}), (self.scratch_names(), self.everything()))
        self.clean()


livetest.main()
