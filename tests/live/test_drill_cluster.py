"""tipple drill on a cluster of two shards: placed, loaded, verified; nothing is left, no zone either.
needs: cluster"""
import signal

import livecluster
import livedrill
import livetest
import minimongo


class DrillCluster(livedrill.Mixin, livecluster.Cluster):
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

    def test_interrupted(self):
        """sharded as the target, also where bounds of its chunks cannot be put in order; Ctrl-C leaves no collection and no zone"""
        name = self.database + ".results"
        self.load("--shard-key", "t", "a.csv")
        self.client.command("admin", {"split": name, "middle": {"t": minimongo.Decimal128.parse("0.5")}})
        before = self.everything()
        self.write("a.csv", livetest.rows(60000, 3))
        process = self.start("--no-predict", "--batch", "5", "--threads", "1", "a.csv")
        self.assertTrue(self.heard(process, "drill: loading"))
        scratch, = self.config("collections", filter={"_id": {"$regex": "tipple.drill.[0-9a-f]*$"}})
        self.assertEqual({"t": 1}, scratch["key"])
        process.send_signal(signal.SIGINT)
        status, _, said = self.ended(process)
        self.assertEqual(-signal.SIGINT, status, said)
        self.assertEqual(([], before), (self.scratch_names(), self.everything()))
        self.clean()


livetest.main()
