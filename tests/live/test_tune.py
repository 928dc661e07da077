"""tipple tune: what it tries, what it says, what it keeps for load, and that nothing of it is left.
needs: replset; nightly on: standalone; locks: failpoints"""
import json
import os
import pathlib
import re
import signal
import subprocess

import live
import livetest
import livetune


class Tune(livetune.Mixin, livetest.Case):
    def test_whole(self):
        """settings are tried, the numbers add up, the target is not even made; load and drill take the cheapest with auto"""
        self.slow()
        said = self.tune("--threads", "2,1", "--batch", "2000,100", "--sample", "12k", "--budget", "10m", "a.csv")
        self.assertEqual({}, self.everything())
        self.adds_up(said)
        self.assertEqual([(1, 100), (1, 2000), (2, 100), (2, 2000)],
                         [(each["threads"], each["batch"]) for each in said["settings"]])
        self.assertEqual({(1, 2000), (2, 2000)}, {(each["threads"], each["batch"]) for each in said["settings"]
                                                  if each["state"] == "too small"})
        self.assertEqual((self.database + ".results", "mot", 12000),
                         tuple(said[key] for key in ("namespace", "format", "records")))
        self.assertRegex(said["scratch"], r"\.results\.tipple\.tune\.[0-9a-f]{12}$")
        self.assertTrue(said["checkpoints"])
        self.assertIn("kept for `tipple load --threads auto", self.stderr)
        self.assertTrue(said["settled"], "one thread is far slower than two")
        self.assertFalse(said["budget_spent"])
        self.assertIn(" --threads 2 --batch 100 a.csv", said["load"])
        self.assertEqual(2, said["cheapest"]["threads"])
        self.client.command("admin", {"configureFailPoint": "failCommand", "mode": "off"})
        done = self.tipple("drill", "--format", "mot", "--uri", self.uri(), "--threads", "auto", "--no-predict", "--json",
                           "a.csv", **self.environment)
        self.assertEqual((2, 1000), tuple(json.loads(done.stdout)["drills"][0]["load"][key] for key in ("threads", "batch")))
        self.run_line(said["load"])
        self.holds(livetest.Books().plain("a.csv", (self.folder / "a.csv").read_bytes()))
        counts = self.load("--threads", "auto", "--batch", "auto", "a.csv", **self.environment)
        self.assertEqual((2, 100), (counts["threads"], counts["batch"]))
        self.assertIn("by the tune of", self.stderr)

    def test_lists(self):
        """all combinations of the lists; bytes a document are those of its compressor; the line has what was found"""
        self.slow()
        self.write("b.csv", livetest.rows(500, 4))
        done = self.tipple(*self.tune_words("--threads", "2", *livetune.SLOW, "--compressor", "none,zlib", "--memory", "64M",
                                            "--filter", "y==NT", "--budget", "30s", "a.csv", "b.csv"), **self.environment)
        table = done.stdout.decode()
        self.assertRegex(table, r"(?m)^threads x batch +docs/s +(?:range +)?bytes/doc +limited by")
        bytes_of = {found[1]: float(found[2]) for found in re.finditer(
            r"(?m)^2 x 100, (none|zlib) .* (\d+\.?\d*) k?B  (?:server|host|client|input)", table)}
        self.assertGreater(bytes_of["none"], 1.5 * bytes_of["zlib"])
        self.assertEqual(1, len(re.findall(r"(?m)^2 x 100, (none|zlib) .* best(?:, cheapest)?$", table)))
        line = table.splitlines()[-1]
        self.assertRegex(line, r"^tipple load --format mot --filter \S+ .* --threads 2 --batch 100 --compressor (none|zlib) "
                         r"--memory 64M a.csv b.csv$")
        self.client.command("admin", {"configureFailPoint": "failCommand", "mode": "off"})
        self.run_line(line)
        self.assertEqual(12500, self.client.count(self.database, "results"))

    def run_line(self, line):
        path = pathlib.Path(live.TIPPLE).resolve().parent
        subprocess.run(["sh", "-c", line + " --quiet"], cwd=self.folder, check=True, timeout=livetest.LONG,
                                env={**os.environ, "PATH": "%s:%s" % (path, os.environ["PATH"])})

    def test_too_small(self):
        """files without enough records for a figure: each setting says so, and nothing is left; rejects are said once"""
        self.write("a.csv", livetest.rows(400, 5, bad=set(range(10, 30))))
        said = self.tune("--threads", "1,2", "--batch", "100", "a.csv", status=1)
        self.assertIn("two seconds and 4 batches", self.stderr)
        self.assertEqual(["too small"] * 2, [setting["state"] for setting in said["settings"]])
        self.assertEqual((None, None, None, 0), tuple(said[key] for key in ("best", "cheapest", "load", "trials")))
        once, = [line for line in self.stderr.splitlines() if " rejected" in line or "/rejects" in line]
        self.assertIn("20 of 400 records", once)

    def test_like_the_target(self):
        """a target that exists is left as it is, and trials are made in a collection that is like it"""
        self.load("--create", '{"clusteredIndex": false}', "--compressor", "zstd", "a.csv")
        before = self.everything()
        process = self.start_endless()
        name, = self.trials()
        found = self.client.command(self.database, {"listCollections": 1, "filter": {"name": name}})["cursor"]["firstBatch"]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=livetest.LONG)
        self.assertNotIn("clusteredIndex", found[0]["options"])
        self.assertIn("block_compressor=zstd", json.dumps(found[0]["options"]))
        self.assertEqual(before, self.everything())

    def test_guessed(self):
        """without --format: guessed once, for all trials"""
        self.FORMAT = ()
        self.write("b.csv", b"k;n;d\n" + b"".join(b"%d;%d,5;%02d/%02d/24\n" % (i, i, i % 9 + 1, i % 9 + 2) for i in range(2000)))
        said = self.tune("--threads", "1", "--batch", "100,500", "--with", "dates=dmy", "-t", "k:text", "b.csv", status=1)
        self.assertEqual("guessed", said["format"])
        self.assertEqual(1, self.stderr.count("read as CSV"))

    def test_nothing_to_measure(self):
        """records that make no document, a budget that is no budget: said, and nothing is left"""
        words = ("--threads", "1,2", "--batch", "100")
        self.write("a.csv", b"1|2|3\n" * 500)
        self.assertIsNone(self.tune(*words, "a.csv", status=1))
        self.assertIn("(500 were rejected", self.stderr)
        self.write("a.csv", self.text)
        self.assertIsNone(self.tune(*words, "--filter", "y==none", "a.csv", status=1))
        self.assertIn("document came out", self.stderr)
        said = self.tune(*words, "--budget", "0", "a.csv", status=1)
        self.assertIn("budget was too small", self.stderr)
        self.assertEqual((None, None, None, 2), (said["best"], said["cheapest"], said["load"], said["untried"]))

    def test_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                self.interrupted(number)

    def test_kept(self):
        """without --sample a trial is stopped after some seconds; what is kept is of one target and compressor;
        one setting alone is compared with nothing, and takes nothing's place"""
        self.slow()
        self.write("a.csv", livetest.rows(60000, 3))
        said = self.tune("--threads", "1,2", "--batch", "100", "--compressor", "zlib", "--budget", "10m", "a.csv")
        self.assertEqual((True, False, None), tuple(said[key] for key in ("settled", "budget_spent", "uncompared")))
        self.assertLess(said["records"], 60000)
        self.assertEqual((2, 100), (said["cheapest"]["threads"], said["cheapest"]["batch"]))
        said = self.tune("--threads", "2", "--batch", "50", "--compressor", "zlib", "--budget", "60s", "a.csv")
        self.assertEqual((False, False, 3), (said["settled"], said["budget_spent"], said["trials"]))
        self.assertEqual([None] * 3, [said[key] for key in ("best", "cheapest", "load")])
        self.assertIn("nothing was compared", said["uncompared"])
        self.assertNotIn("kept", self.stderr)
        self.client.command("admin", {"configureFailPoint": "failCommand", "mode": "off"})
        for words, collection, found, said in (
                (("--batch", "auto", "--threads", "3", "--compressor", "zlib"), "results", (3, 100), "by the tune of"),
                (("--batch", "auto", "--threads", "3"), "results", (3, 1000), "another compressor (zlib)"),
                (("--batch", "auto", "--threads", "3"), "other", (3, 1000), "knows of no tune")):
            counts = self.load(*words, "a.csv", collection=collection, **self.environment)
            self.assertEqual(found, (counts["threads"], counts["batch"]))
            self.assertIn(said, self.stderr)


livetest.main()
