"""tipple tune on a cluster: through routers and past them, sharded as the target is.  needs: cluster"""
import signal

import livecluster
import livetest
import livetune


class TuneCluster(livetune.Mixin, livecluster.Cluster):
    def test_ways(self):
        """through one router, through both, and past them; nothing is left, no zone either"""
        said = self.tune("--threads", "2", "--batch", "200", "--sample", "1000", "--both-direct", "--routers", "1,2", "a.csv")
        self.adds_up(said, 1000)
        self.assertEqual({(False, 1), (False, 2), (True, 1), (True, 2)},
                         {(setting["direct"], setting["routers"]) for setting in said["settings"]})
        self.assertEqual({}, self.everything())
        self.clean()
        line = said["load"]
        self.assertEqual(said["cheapest"]["direct"], " --direct " in line)
        self.assertEqual(said["cheapest"]["routers"], line.split("/%s." % self.database)[0].count(",") + 1)

    def test_too_many_routers(self):
        self.assertIsNone(self.tune("--routers", "3", "a.csv", status=1))
        self.assertIn("names 2, not 3", self.stderr)
        self.clean()

    def test_like_the_target(self):
        """trials are sharded on the target's key; the target is left as it is"""
        self.load("--shard-key", "k:hashed", "a.csv")
        before, chunks = self.everything(), self.chunks()
        process = self.start(*livetune.ENDLESS, "a.csv")
        scratch = "%s.results.tipple.tune" % self.database
        found = []

        def seen():
            found.extend(self.config("collections", filter={"_id": scratch}))
            return found
        self.assertTrue(livetest.wait_for(seen))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=livetest.LONG)
        self.assertEqual({"k": "hashed"}, found[0]["key"])
        self.assertEqual((before, chunks), (self.everything(), self.chunks()))
        self.assertEqual([], self.config("collections", filter={"_id": scratch}))
        self.clean()

    def test_interrupted(self):
        self.interrupted(signal.SIGINT, "--both-direct")
        self.clean()

    def test_killed(self):
        self.killed()
        self.clean()


livetest.main()
