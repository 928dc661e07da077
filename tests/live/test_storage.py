"""tipple tune --storage: that each setting is what it says it is, that its sizes are the server's, and what is left.
needs: standalone; nightly on: replset; locks: failpoints"""
import json
import os
import signal
import subprocess

import live
import livestorage
import livetest
import livetune


class Storage(livestorage.Mixin, livetest.Case):
    def test_whole(self):
        """each trial was loaded by its compressor, clustered or plain, under its keys; sizes are the server's"""
        said = self.storage("--compressor", "none,zstd", "--both-clustered", "--sample", "1500",
                            "--cold", self.hook(), "a.csv")
        self.adds_up(said, 1500)
        seen = self.seen()
        self.assertEqual(said["trials"] + 1, len(seen))  # the warm-up
        self.assertEqual(8, len(said["settings"]))
        values = set()
        for setting in said["settings"]:
            of = [one for one in seen[1:] if (one["compressor"], one["clustered"], one["short"]) == (
                setting["compressor"], setting["clustered"] == "yes", setting["keys"] == "short")]
            self.assertEqual(setting["trials"], len(of))
            self.assertEqual({1500}, {one["count"] for one in of})
            self.assertEqual({setting["data_bytes"]}, {one["size"] for one in of})
            self.near(setting["storage_bytes"], [one["storage"] for one in of])
            self.near(setting["index_bytes"], [one["indexes"] for one in of])
            self.assertEqual(setting["clustered"] == "yes", setting["index_bytes"] == 0)
            self.assertGreater(setting["scan_disk_seconds"], 0)
            values |= {one["values"] for one in of}
        self.assertEqual(1, len(values))  # the same record's, whatever the keys are

    def test_like_a_load(self):
        """data and storage are those of an ordinary load of the same rows, the short ones by a format file"""
        self.write("mine.log", "format: mine\nlike: mot\nkeys: short\n")
        os.rename(self.folder / "mine.log", self.folder / "cache.yaml")
        self.addCleanup(os.remove, self.folder / "cache.yaml")
        said = self.storage("--compressor", "zlib", "--clustered", "--threads", "1", "--sample", "9999", "a.csv",
                            ignored="cache.yaml")
        for setting, form, name in zip(said["settings"], ("mot-long", "./cache.yaml"), ("long", "short")):
            self.assertEqual(name, setting["keys"])
            self.tipple("load", "--format", form, "--uri", self.uri(name), "--compressor", "zlib", "--clustered",
                        "--threads", "1", "a.csv")
            self.client.command("admin", {"fsync": 1})
            stats = self.client.command(self.database, {"collStats": name})
            self.assertEqual((stats["count"], stats["size"]), (setting["documents"] // setting["trials"], setting["data_bytes"]))
            self.near(setting["storage_bytes"], [stats["storageSize"]])
            self.near(setting["bytes_per_document"] * stats["count"], [stats["storageSize"]])
        self.assertLess(said["settings"][1]["data_bytes"], 0.8 * said["settings"][0]["data_bytes"])

    def test_lines_to_paste(self):
        """the format file and the line that are told load what was recommended; so does the line for a person"""
        said = self.storage("--compressor", "snappy", "--no-clustered", "--keys", "short", "--sample", "500", "a.csv")
        self.assertEqual("format: mot-short\nlike: mot\nkeys: short\n", said["format_file"])
        self.write("mot-short.yaml", said["format_file"])
        path = {**os.environ, "PATH": os.path.dirname(os.path.abspath(live.TIPPLE)) + ":" + os.environ["PATH"]}
        subprocess.run(["sh", "-c", said["load"]], cwd=self.folder, check=True, timeout=livetest.LONG, env=path,
                       stdout=subprocess.DEVNULL)
        self.assertEqual(3000, self.client.count(self.database, "results"))
        self.assertEqual({"_id", *"abcdefghijklmn"}, {key for document in self.documents() for key in document})
        self.assertEqual(("snappy", False), self.made("results"))
        self.tipple("verify", "--format", "./mot-short.yaml", "--uri", self.uri(), "a.csv")
        os.remove(self.folder / "mot-short.yaml")
        done = self.tipple(*self.tune_words(*livestorage.PATIENT, "--compressor", "zstd", "--clustered", "--sample",
                                            "500", "--keys", "short", "a.csv"), **self.environment)
        said = done.stdout.decode()
        self.assertIn("cannot be changed", said)
        lines = [line for line in said.splitlines() if line.startswith(("printf ", "tipple load "))]
        self.assertEqual(2, len(lines))
        lines[1] = lines[1].replace(self.database + ".results", self.database + ".again")
        subprocess.run(["sh", "-c", "\n".join(lines)], cwd=self.folder, check=True, timeout=livetest.LONG, env=path,
                       stdout=subprocess.DEVNULL)
        self.assertEqual(("zstd", True), self.made("again"))

    def test_for_a_person(self):
        """a row for each setting, a '-' for what was not measured, the four that stand out"""
        done = self.tipple(*self.tune_words(*livestorage.PATIENT, "--compressor", "none,snappy", "--clustered",
                                            "--sample", "500", "a.csv"), **self.environment)
        table = done.stdout.decode()
        for compressor in ("none", "snappy"):
            for keys in ("long", "short"):
                self.assertRegex(table, r"(?m)^%s +clustered +%s +\S+ ±\d+%% +\S+ +\d+ .* [mu]?s +-$"
                                 % (compressor, keys))
        for word in ("smallest:", "fastest to load:", "fastest to scan:", "recommended:"):
            self.assertRegex(table, r"(?m)^%s +(none|snappy), clustered, " % word)
        self.assertEqual({}, self.everything())

    def test_short_already(self):
        """a format whose keys are short has one kind of settings, and says so"""
        said = self.storage("--compressor", "none", "--clustered", "--sample", "500", "a.csv", form="mot")
        self.assertEqual(["long"], [setting["keys"] for setting in said["settings"]])
        self.assertIn("keys are left out", self.stderr)
        self.assertIn("--format mot ", said["load"])

    def test_filters(self):
        """filters by names hold for either kind of keys; rejected records are no documents"""
        self.write("a.csv", livetest.rows(800, 5, bad={7, 9}))
        wanted = sum(b"|SW|" in line and line.count(b"|") == 13
                     for line in livetest.rows(800, 5, bad={7, 9}).splitlines()[1:])
        said = self.storage("--compressor", "none", "--clustered", "--filter", "postcodeArea==SW", "a.csv")
        self.assertEqual([wanted, wanted], [setting["documents"] / setting["trials"] for setting in said["settings"]])

    def test_refused(self):
        self.assertIsNone(self.storage("--cold", "exit 3", "--sample", "300", "a.csv", status=8))
        self.assertIn("--cold ended with status 3", self.stderr)
        said = self.storage("--budget", "0", "--sample", "300", "a.csv", status=1)
        self.assertIn("budget was too small", self.stderr)
        self.assertEqual((None, None, None), (said["smallest"], said["recommended"], said["load"]))
        self.client.insert(self.database, "results.tipple.tune", [{"_id": 1, "precious": True}])
        self.assertIsNone(self.storage("a.csv", status=1))
        self.assertIn("not a study's", self.stderr)

    def test_no_checkpoints(self):
        """a user who may not have them made: sizes would be of empty files, so there are none"""
        self.client.command("admin", {"configureFailPoint": "failCommand", "mode": "alwaysOn", "data": {
            "failCommands": ["fsync"], "errorCode": 13, "appName": "tipple"}})
        self.addCleanup(self.client.command, "admin", {"configureFailPoint": "failCommand", "mode": "off"})
        self.assertIsNone(self.storage("--sample", "300", "a.csv", status=1))
        self.assertIn("hostManager", self.stderr)

    def test_interrupted(self):
        """in a trial, and while the command that empties caches runs; nothing is left, not even that command"""
        for more in ((), ("--cold", "echo $$ > cold.log; exec sleep 300")):
            with self.subTest(more):
                before = self.everything()
                process = self.start("--json", *livestorage.ENDLESS, *more, "a.csv")
                self.in_a_trial()
                if more:
                    self.assertTrue(livetest.wait_for(lambda: self.cold_process() > 0))
                process.send_signal(signal.SIGINT)
                out, said = process.communicate(timeout=livetest.LONG)
                self.assertEqual(-signal.SIGINT, process.returncode, said.decode())
                self.assertEqual(before, self.everything())
                self.assertTrue(not out or json.loads(out)["status"] == 130)
                if more:
                    self.assertFalse(os.path.exists("/proc/%d" % self.cold_process()))

    def cold_process(self):
        path = self.folder / "cold.log"
        return int(path.read_text() or 0) if path.exists() else 0


livetest.main()
