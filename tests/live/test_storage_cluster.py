"""tipple tune --storage on a cluster: sizes are sums over the shards, asked behind the router's back.
needs: cluster"""
import signal

import clusters
import livecluster
import livestorage
import livetest


class StorageCluster(livestorage.Mixin, livecluster.Cluster):
    def test_sums(self):
        """both shards have some of each trial, and together what the setting says"""
        shards = [clusters.uri(self.state, [member for member in self.state["members"] if member["set"] == name])
                  for name in self.names()]
        said = self.storage("--compressor", "none,zlib", "--clustered", "--sample", "1500", "--cold",
                            self.hook(*shards), "a.csv")
        self.adds_up(said, 1500)
        self.assertEqual(2, said["shards"])
        seen = self.seen()
        self.assertEqual(said["trials"] + 1, len(seen))
        for setting in said["settings"]:
            of = [one for one in seen[1:] if (one["compressor"], one["short"]) == (
                setting["compressor"], setting["keys"] == "short")]
            self.assertEqual(setting["trials"], len(of))
            self.assertEqual({1500}, {one["count"] for one in of})
            self.assertEqual({setting["data_bytes"]}, {one["size"] for one in of})
            self.near(setting["storage_bytes"], [one["storage"] for one in of])
        self.clean()

    def test_shard_keys(self):
        """a shard key is spelled in the format's own keys: short ones are left out, or refused where they are wanted"""
        words = ("--shard-key", "make:hashed", "--compressor", "none", "--no-clustered", "--sample", "600", "a.csv")
        said = self.storage(*words)
        self.assertEqual(["long"], [setting["keys"] for setting in said["settings"]])
        self.assertIn("the shard key make:hashed", self.stderr)
        self.assertIn(" --shard-key make:hashed ", said["load"])
        self.assertIsNone(self.storage("--keys", "short", *words, status=1))
        self.assertIn("cannot be tried", self.stderr)
        self.clean()

    def test_interrupted(self):
        before = self.everything()
        process = self.start("--json", *livestorage.ENDLESS, "a.csv")
        self.in_a_trial()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=livetest.LONG)
        self.assertEqual(-signal.SIGINT, process.returncode, said.decode())
        self.assertEqual(before, self.everything(), said.decode())
        self.clean()


livetest.main()
