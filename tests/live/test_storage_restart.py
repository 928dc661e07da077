"""tipple tune --storage with a --cold that restarts the server, again and again.  needs: none"""
import os
import shlex
import sys

import live
import livestorage
import livetest
import mongods


class Restarted(livestorage.Mixin, livetest.OwnServer):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.reconnect)  # what drops the database comes behind it

    def everything(self):
        self.reconnect()
        return super().everything()

    def test_restarts(self):
        """each trial goes on with the next server, and nothing is left in the last one"""
        tool = [sys.executable, str(live.ROOT / "tools/server")]
        before = mongods.read_state(self.servers)["members"][0]
        again = [*tool, "up", "--dir", self.servers, "--port", str(before["port"]), "--owner", str(os.getpid())]
        down = [*tool, "down", "--dir", self.servers]
        restart = "%s && %s && echo again >> seen.log" % (shlex.join(down), shlex.join(again))
        said = self.storage("--compressor", "snappy", "--clustered", "--sample", "1000", "--cold", restart, "a.csv")
        self.adds_up(said, 1000)
        self.assertEqual(said["trials"] + 1, len((self.folder / "seen.log").read_text().splitlines()))
        self.assertNotEqual(before["pid"], mongods.read_state(self.servers)["members"][0]["pid"])
        for setting in said["settings"]:
            self.assertLessEqual(setting["scan_disk_low"], setting["scan_disk_seconds"])
            self.assertGreater(setting["scan_disk_low"], 0)


livetest.main()
