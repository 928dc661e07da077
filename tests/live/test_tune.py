"""tipple tune: what it tries, what it says, what it keeps for load, and that nothing of it is left.
needs: replset; nightly on: standalone"""
import json
import os
import pathlib
import re
import signal
import subprocess

import live
import livetest
import livetune

SMALL = ("--threads", "1,2", "--batch", "100,500", "--sample", "1000")


class Tune(livetune.Mixin, livetest.Case):
    def test_whole(self):
        """every setting is tried, the numbers add up, the target is not even made, and load takes the cheapest with auto"""
        said = self.tune(*SMALL, "a.csv")
        self.assertEqual({}, self.everything())
        self.assertEqual([(1, 100), (1, 500), (2, 100), (2, 500)], self.cell_keys(said))
        self.adds_up(said, 1000)
        self.assertEqual((self.database + ".results", self.database + ".results.tipple.tune", "mot", 1000, 1000),
                         tuple(said[key] for key in ("namespace", "scratch", "format", "sample", "records")))
        self.assertTrue(said["checkpoints"])
        self.assertIn("kept in %s/" % self.environment["XDG_CACHE_HOME"], self.stderr)
        cheapest = said["cheapest"]
        self.assertIn(" --threads %d --batch %d a.csv" % (cheapest["threads"], cheapest["batch"]), said["load"])
        counts = self.load("--threads", "auto", "--batch", "auto", "a.csv", **self.environment)
        self.assertEqual((cheapest["threads"], cheapest["batch"]), (counts["threads"], counts["batch"]))
        self.assertIn("by the tune of", self.stderr)
        self.holds(livetest.Books().plain("a.csv", self.text))

    def test_guessed(self):
        """without --format: guessed once, for all trials; the line that is printed says what a person had said"""
        self.FORMAT = ()
        self.write("b.csv", b"k;n;d\n" + b"".join(b"%d;%d,5;%02d/%02d/24\n" % (i, i, i % 9 + 1, i % 9 + 2) for i in range(2000)))
        said = self.tune("--threads", "1", "--batch", "100,500", "--sample", "1000", "--dates", "dmy", "-t", "k:text", "b.csv")
        self.assertEqual(("guessed", 1000), (said["format"], said["records"]))
        self.assertEqual(1, self.stderr.count("read as CSV"))
        self.assertRegex(said["load"], "^tipple load --uri .* --dates dmy --type k:text b.csv$")
        path = os.path.dirname(os.path.abspath(live.TIPPLE))
        subprocess.run(["sh", "-c", said["load"]], cwd=self.folder, check=True, timeout=livetest.LONG,
                       stdout=subprocess.PIPE, env={**os.environ, "PATH": path + ":" + os.environ["PATH"]})
        self.assertEqual({2000}, {self.client.count(self.database, "results")})
        found = next(iter(self.client.find(self.database, "results", filter={"n": 3.5})))
        self.assertEqual(("3", 3.5), (found["k"], found["n"]))

    def test_line_to_paste(self):
        """the line that is printed is a command that loads"""
        self.write("b.csv", livetest.rows(500, 4))
        said = self.tune("--threads", "1", "--batch", "100", "--sample", "300", "--no-clustered", "--filter", "y==NT",
                         "a.csv", "b.csv")
        path = os.path.dirname(os.path.abspath(live.TIPPLE))
        subprocess.run(["sh", "-c", said["load"] + " --json"], cwd=self.folder, check=True, timeout=livetest.LONG,
                       stdout=subprocess.PIPE, env={**os.environ, "PATH": path + ":" + os.environ["PATH"]})
        self.assertEqual(3500, self.client.count(self.database, "results"))
        listed = self.client.command(self.database, {"listCollections": 1, "filter": {"name": "results"}})
        self.assertNotIn("clusteredIndex", listed["cursor"]["firstBatch"][0]["options"])

    def test_like_the_target(self):
        """a target that exists is left as it is, and trials are made in a collection that is like it"""
        self.load("--no-clustered", "--compressor", "zstd", "a.csv")
        process = self.start(*livetune.ENDLESS, "a.csv")
        before = {name: what for name, what in self.everything().items() if ".tipple.tune" not in name}
        self.in_a_trial()
        found = []

        def seen():
            found.extend(self.client.command(self.database, {
                "listCollections": 1, "filter": {"name": "results.tipple.tune"}})["cursor"]["firstBatch"])
            return found
        self.assertTrue(livetest.wait_for(seen))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=livetest.LONG)
        self.assertNotIn("clusteredIndex", found[0]["options"])
        self.assertIn("block_compressor=zstd", json.dumps(found[0]["options"]))
        self.assertEqual(before, self.everything())

    def test_choices(self):
        """all combinations of what is varied; those of a line are what was asked for"""
        said = self.tune("--threads", "2", "--batch", "300", "--sample", "600", "--both-clustered", "--compressor",
                         "none,zstd", "--wire-compressor", "none,zlib", "a.csv")
        self.adds_up(said, 600)
        self.assertEqual({(clustered, block, wire) for clustered in ("yes", "no") for block in ("none", "zstd")
                          for wire in ("none", "zlib")},
                         {(setting["clustered"], setting["compressor"], setting["wire_compressor"]) for setting in said["settings"]})
        self.assertIn({"yes": " --clustered ", "no": " --no-clustered "}[said["cheapest"]["clustered"]], said["load"])
        self.assertIn(" --compressor %s " % said["cheapest"]["compressor"], said["load"])
        self.assertEqual("zlib" == said["cheapest"]["wire_compressor"], "compressors=zlib" in said["load"])

    def test_for_a_person(self):
        """the matrix has a row for each number of threads and a column for each batch size; best and cheapest are in it"""
        done = self.tipple(*self.tune_words(*livetune.PATIENT, *SMALL, "a.csv"), **self.environment)
        table = done.stdout.decode()
        self.assertRegex(table, r"(?m)^ *docs/s +batch 100 +batch 500$")
        for threads in ("1 thread", "2 threads"):
            self.assertEqual(2, len(re.findall(r"(?m)^ *%s  " % threads, table)))
        self.assertEqual(1, len(re.findall(r"(?m)^best: \d", table)))
        self.assertEqual(1, len(re.findall(r"(?m)^cheapest: ", table)))
        self.assertRegex(table, r"(?m)^load with the cheapest: ")
        self.assertEqual(1, len(re.findall(r"(?m)^tipple load --format mot --uri \S+/%s.results\S* --threads" % self.database,
                                           table.replace("'", ""))))
        self.assertEqual({}, self.everything())

    def test_small_files(self):
        """files of fewer records than a sample are loaded whole; rejected records are no documents, and leave no file"""
        self.write("a.csv", livetest.rows(400, 5, bad={7, 9}))
        said = self.tune("--threads", "1,2", "--batch", "100", "--sample", "5k", "a.csv")
        self.adds_up(said, 398)
        self.assertEqual((5000, 400), (said["sample"], said["records"]))

    def test_many_rejects(self):
        """said once, in one line, and no file is named that is gone: not in each trial anew"""
        self.write("a.csv", livetest.rows(400, 5, bad=set(range(10, 30))))
        said = self.tune("--threads", "1,2", "--batch", "100", "--sample", "300", "a.csv")
        self.adds_up(said, 280)
        once, = [line for line in self.stderr.splitlines() if " rejected" in line or "/rejects" in line]
        self.assertIn("20 of 300 records", once)

    def test_somebody_elses(self):
        """a collection of that name that no study has made is refused and left alone"""
        self.client.insert(self.database, "results.tipple.tune", [{"_id": 1, "precious": True}])
        self.assertIsNone(self.tune(*SMALL, "a.csv", status=1))
        self.assertIn("not a study's", self.stderr)

    def test_refused(self):
        """what does not go with this target; nothing is left"""
        for words, sentence in ((["--direct"], "--direct goes with"),
                                (["--routers", "1"], "--routers goes with"),
                                (["--shard-key", "k:hashed"], "a sharded cluster")):
            self.assertIsNone(self.tune(*SMALL, *words, "a.csv", status=1))
            self.assertIn(sentence, self.stderr)

    def test_write_concerns(self):
        """what the majority confirms beside what one member does: only the latter needs --unsafe, and w= in the URI"""
        words = ("--threads", "2", "--batch", "300", "--sample", "600")
        if live.KIND == "standalone":
            self.assertIsNone(self.tune(*words, "--write-concern", "majority,1", "a.csv", status=1))
            self.assertIn("--write-concern goes with", self.stderr)
            return
        said = self.tune(*words, "--write-concern", "majority,1", "a.csv")
        self.adds_up(said, 600)
        self.assertEqual(["majority", "1"], [setting["write_concern"] for setting in said["settings"]])
        unsafe = said["cheapest"]["write_concern"] == "1"
        self.assertEqual((unsafe, unsafe), (" --unsafe" in said["load"], "w=1" in said["load"]))
        self.assertNotIn("--unsafe", self.stderr)  # said once, with the line; not in each trial
        done = self.tipple(*self.tune_words(*livetune.PATIENT, *words, "--write-concern", "1", "a.csv"), **self.environment)
        self.assertRegex(done.stdout.decode(), r"w=1.* --unsafe a.csv\n\(--unsafe, and w=1 in the URI: ")
        # a set of one: that nobody else confirms is what its server says, so it was asked to
        self.assertIsNone(self.tune(*words, "--write-concern", "3", "a.csv", status=1))
        self.assertIn("asks for more members", self.stderr)

    def test_nothing_to_measure(self):
        """records that make no document, a budget that is no budget: said, and nothing is left"""
        self.write("a.csv", b"1|2|3\n" * 500)
        self.assertIsNone(self.tune(*SMALL, "a.csv", status=1))
        self.assertIn("(500 were rejected", self.stderr)
        self.assertNotIn("tipple-tune-", self.stderr)
        self.write("a.csv", self.text)
        self.assertIsNone(self.tune(*SMALL, "--filter", "y==none", "a.csv", status=1))
        self.assertIn("document came out", self.stderr)
        said = self.tune(*SMALL, "--budget", "0", "a.csv", status=1)
        self.assertIn("budget was too small", self.stderr)
        self.assertEqual((None, None, None, 4), (said["best"], said["cheapest"], said["load"], said["untried"]))

    def test_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                self.interrupted(number)

    def test_killed(self):
        self.killed()

    def test_two_at_once(self):
        """the second one is refused while the first one is alive, and the first one goes on"""
        first = self.start(*livetune.ENDLESS, "a.csv")
        self.in_a_trial()
        done = self.tipple(*self.tune_words(*SMALL, "a.csv"), status=1, **self.environment)
        self.assertRegex(done.stderr, r"another study \(process %d " % first.pid)
        self.assertIsNone(first.poll())
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=livetest.LONG)
        self.assertEqual({}, self.everything())

    def test_kept(self):
        """what is kept is of one target; what is damaged is said, and the defaults are taken"""
        self.tune("--threads", "3", "--batch", "77", "--sample", "200", "a.csv")
        kept, = pathlib.Path(self.environment["XDG_CACHE_HOME"], "tipple").iterdir()
        self.assertEqual((3, 77, "mot"), tuple(json.loads(kept.read_text())[key] for key in ("threads", "batch", "format")))
        counts = self.load("--batch", "auto", "--threads", "2", "a.csv", **self.environment)
        self.assertEqual((2, 77), (counts["threads"], counts["batch"]))
        counts = self.load("--batch", "auto", "a.csv", collection="other", **self.environment)
        self.assertEqual(1000, counts["batch"])
        self.assertIn("knows of no tune", self.stderr)
        for damage in ("{", "{}", '{"threads": 0, "batch": 5}', '{"threads": "4", "batch": 5}'):
            kept.write_text(damage)
            counts = self.load("--batch", "auto", "a.csv", **self.environment)
            self.assertEqual(1000, counts["batch"])
            self.assertRegex(self.stderr, "is damaged|not hold what")

    def test_short(self):
        """where nothing is known of a target, auto makes a short tune of large files, and keeps it"""
        self.write("a.csv", livetest.rows(220_000, 3))
        self.assertGreater(os.path.getsize(self.folder / "a.csv"), 16 << 20)
        words = ("--threads", "auto", "--batch", "auto", "a.csv")
        counts = self.load(*words, **self.environment)
        self.assertRegex(self.stderr, r"comes first, of 5\.0 s")
        kept, = pathlib.Path(self.environment["XDG_CACHE_HOME"], "tipple").iterdir()
        kept = json.loads(kept.read_text())
        self.assertEqual((kept["threads"], kept["batch"], 220_000),
                         (counts["threads"], counts["batch"], counts["loaded"]))
        self.assertEqual(set(), self.scratch_names())
        self.load("--threads", "auto", "--batch", "2000", "a.csv", collection="third", **self.environment)
        self.assertRegex(self.stderr, r"auto: [0-9]+ threads?, batches of 2000 \(")
        self.assertEqual(1, len(list(pathlib.Path(self.environment["XDG_CACHE_HOME"], "tipple").iterdir())))
        self.write("a.csv", livetest.rows(200, 3))
        for more, why in ((["--max-rate", "auto"], "fast as it can"), (["--limit", "10"], "all of the files"),
                          (["--max-rate", "1m"], "fast as it can")):
            self.load(*words, *more, collection="other", **self.environment)
            self.assertIn("makes none, because", self.stderr)
            self.assertIn(why, self.stderr)

    def test_short_interrupted(self):
        """Ctrl-C in the short tune: nothing is loaded, and nothing is left"""
        self.write("a.csv", livetest.rows(220_000, 3))
        process = subprocess.Popen(
            self.command("load", "--format", "mot", "--uri", self.uri(), "--threads", "auto", "--batch", "auto", "a.csv"),
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **self.environment})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.in_a_trial()
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=livetest.LONG)
        self.assertEqual((-signal.SIGINT, b""), (process.returncode, out), said.decode())
        self.assertEqual({}, self.everything())


livetest.main()
