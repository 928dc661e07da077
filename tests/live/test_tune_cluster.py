"""tipple tune on a cluster: sharded as the target is; nothing is left, no zone either.  needs: cluster"""
import signal

import livecluster
import livetest
import livetune


class TuneCluster(livetune.Mixin, livecluster.Cluster):
    def test_like_the_target(self):
        """trials are sharded on the target's key; the target is left as it is"""
        self.load("--shard-key", "k:hashed", "a.csv")
        before, chunks = self.everything(), self.chunks()
        process = self.start_endless()
        start = "^%s\\.results\\.tipple\\.tune\\." % self.database
        found = []

        def seen():
            found.extend(self.config("collections", filter={"_id": {"$regex": start}}))
            return found
        self.assertTrue(livetest.wait_for(seen))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=livetest.LONG)
        self.assertEqual({"k": "hashed"}, found[0]["key"])
        self.assertEqual((before, chunks), (self.everything(), self.chunks()))
        self.assertEqual([], self.config("collections", filter={"_id": {"$regex": start}}))
        self.clean()

    def test_interrupted(self):
        self.interrupted(signal.SIGINT, "--direct", "true")
        self.clean()

    def test_killed(self):
        self.killed()
        self.clean()


livetest.main()
