"""tipple drill: phases, forecasts, history, several collections, and that the target is never touched.
needs: none"""
import json
import signal
import time

from dumplab import archive
import livedrill
import livetest
import minimongo
import pool


class Drill(livedrill.Mixin, livetest.OwnServer):
    """With a server of its own: index builds hang while a drill is stopped, and one test kills it."""
    options = {"extra": pool.TEST_COMMANDS}

    # -------------------------------------------------------------------------------------------- what it says

    def bands(self):
        """How many lines the greenness query has to give, from the text alone."""
        found = set()
        for line in self.text.splitlines()[1:]:
            fields = line.split(b"|")
            band = 1 + sum(int(fields[12]) > limit for limit in (1000, 1200, 1600, 2000, 2500, 3500))
            found.add(band * (1.5 if fields[11] == b"DI" else 1))
        return len(found)

    def test_whole(self):
        """every phase, with what was predicted of it; the first query's answer; a line in the history; soon enough"""
        said = self.drill(*livedrill.SMALL, "--index", "k:1", "--index", "t:-1", "--threads", "2", "--batch", "100",
                          "--within", "1h", "--history", "drills.log", "--query", "mot:greenness", "a.csv", touches=True)
        drill, = said["drills"]
        self.assertEqual((3600, True), (said["within_seconds"], said["is_within"]))
        line, = (self.folder / "drills.log").read_text().splitlines()
        entry = json.loads(line)
        self.assertEqual([said["namespace"], said["drills"]], [entry["namespace"], entry["drills"]])
        self.assertIn("$date", json.dumps(entry["when"]))
        self.adds_up(drill, self.ROWS)
        self.assertEqual(set(livedrill.PHASES) - {"place"}, set(self.phases(drill)))  # there are no shards
        began = [self.phases(drill)[name]["began_seconds"] for name in ("look", "drop", "create", "load", "indexes",
                                                                        "verify", "first query")]
        self.assertEqual(sorted(began), began)
        self.assertEqual(("scratch", "mot", "mot:greenness", self.ROWS, True),
                         tuple(said[key] for key in ("mode", "format", "query", "documents", "documents_exact")))
        self.assertEqual(self.database + ".results", said["namespace"])
        self.assertTrue(said["collection"].startswith(self.database + "." + livedrill.SCRATCH))
        self.assertEqual((2, 100, ["k:1", "t:-1"]), (drill["load"]["threads"], drill["load"]["batch"],
                                                     [index["keys"] for index in drill["load"]["indexes"]]))
        self.assertEqual((self.bands(), 0, None), (drill["query_returned"], drill["differences"], drill["difference"]))
        self.assertLessEqual(drill["query_seconds"], self.phases(drill)["first query"]["seconds"])

    def test_kept(self):
        """without --format: as the catalog of the target keeps it; other words for the guess are refused"""
        self.FORMAT = ()
        self.write("b.csv", b"1;a\n" + b"".join(b"%d;x%d\n" % (i, i) for i in range(2000)))
        self.tipple("load", "--uri", self.uri(), "--with", "header=no", "-t", "column_1:k:text", "b.csv")
        said = self.drill("--predict-only", "--sample", "500", "b.csv")
        self.assertNotIn("read as CSV", self.stderr)
        self.assertEqual(2001, said["documents"])
        self.drill("--predict-only", "--sample", "500", "--with", "header=yes", "b.csv", status=1)
        self.assertIn("kept when", self.stderr)

    def test_for_a_person(self):
        """the table has each phase, and the last line is the sentence"""
        done = self.tipple(*self.drill_words(*livedrill.SMALL, "--index", "k:1", "a.csv"))
        lines = done.stdout.decode().splitlines()
        for name in livedrill.PHASES:
            self.assertEqual(name != "place", any(line.startswith(name + "  ") for line in lines), name)
        self.assertRegex(lines[-1], r"verified in .*; .*first query ")
        self.assertRegex(done.stderr, r"predicted for 3,000 documents, \d+ kB of BSON")
        for words, _ in livedrill.ANNOUNCED:
            self.assertIn("drill: " + words, done.stderr)

    # ------------------------------------------------------------------------------------------------ history

    def test_history(self):
        """each drill is one more line; what else the file holds is left alone"""
        words = ("--no-predict", "--history", "drills.log", "a.csv")
        other = '{"namespace": "x.y", "mode": "scratch", "format": "mot"}\nnot JSON\n'
        self.write("drills.log", other)
        self.tipple(*self.drill_words(*words))
        self.tipple(*self.drill_words(*words))
        lines = (self.folder / "drills.log").read_text()
        self.assertTrue(lines.startswith(other))
        self.assertEqual(4, len(lines.splitlines()))
        self.assertIsNone(self.drill("--no-predict", "--history", "none/drills.log", "a.csv", status=1))
        self.assertIn("--history none/drills.log cannot be opened", self.stderr)

    # ------------------------------------------------------------------------------------------- the target's settings

    def settings(self, name):
        entry, = self.client.command(self.database, {"listCollections": 1, "filter": {"name": name}})["cursor"]["firstBatch"]
        indexes = self.client.command(self.database, {"listIndexes": name})["cursor"]["firstBatch"]
        return entry["options"], sorted(indexes, key=lambda index: index["name"])

    def test_like_the_target(self):
        """options and indexes of the scratch collection are the target's, without an index that removes documents"""
        options = {"validator": {"k": {"$exists": True}}, "collation": {"locale": "de"},
                   "storageEngine": {"wiredTiger": {"configString": "block_compressor=zlib,leaf_page_max=64KB"}}}
        indexes = [{"key": {"d": 1}, "name": "by day", "hidden": True}, {"key": {"k": "text"}, "name": "words"},
                   {"key": {"t": -1}, "name": "t_-1", "collation": {"locale": "fr"}, "unique": False},
                   {"key": {"y": 1, "t": 1}, "name": "few", "unique": True, "partialFilterExpression": {"y": {"$exists": True}}}]
        indexes[1]["collation"] = {"locale": "simple"}
        self.client.command(self.database, {"create": "results", **options})
        self.client.command(self.database, {"createIndexes": "results", "indexes": indexes})
        made = self.settings("results")
        self.client.command(self.database, {"createIndexes": "results", "indexes": [
            {"key": {"t": 1}, "name": "aging", "expireAfterSeconds": 2000000000}]})
        self.hold("find")
        self.addCleanup(self.hold, "")
        process = self.start("--no-predict", "a.csv")
        self.assertTrue(self.heard(process, "drill: verifying"), process.said)
        self.assertEqual(made, self.settings(self.scratch()))
        self.hold("")
        status, _, said = self.ended(process)
        self.assertEqual(0, status, said)
        self.assertIn("by their age, aging", said)

    # -------------------------------------------------------------------------------------------- several collections

    def targets(self, text, *words, status=0):
        """All results that --json prints."""
        self.write("all.yaml", text)
        before = self.everything()
        done = self.tipple("drill", "--uri", self.uri().replace("/%s.results" % self.database, "/"), "--targets", "all.yaml",
                           "--json", *words, status=status)
        self.stderr = done.stderr
        self.assertEqual(before, self.everything())
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_several(self):
        """one after the other, each with its own options; their sum is within the time or not"""
        self.write("b.csv", livetest.rows(500, 4))
        text = """
- {collection: %s.results, files: a.csv, format: mot, index: ["k:1", "d:1,t:1"], query: "mot:greenness", threads: 2}
- {collection: %s.others, files: [a.csv, b.csv], format: mot, filter: "s==B"}
""" % (self.database, self.database)
        first, second, whole = self.targets(text, "--history", "h.json", "--within", "1h")
        self.assertEqual([["k:1", "d:1,t:1"], []], [[index["keys"] for index in said["drills"][0]["load"]["indexes"]]
                                                    for said in (first, second)])
        self.assertEqual(["mot:greenness", "one document"], [first["query"], second["query"]])
        self.assertEqual((2, self.ROWS + 500), (first["drills"][0]["load"]["threads"], second["drills"][0]["load"]["read"]))
        self.assertGreater(second["drills"][0]["load"]["filtered"], 0)
        self.assertEqual(2, len((self.folder / "h.json").read_text().splitlines()))
        self.assertEqual([self.database + ".results", self.database + ".others"],
                         [said["namespace"] for said in whole["collections"]])
        for said, row in zip((first, second), whole["collections"]):
            drill, = said["drills"]
            self.assertEqual({phase["phase"]: phase["seconds"] for phase in drill["phases"]}, row["seconds"])
            self.assertEqual([drill["verified_seconds"], drill["predicted_verified"], said["documents"]],
                             [row["verified_seconds"], row["predicted_verified"], row["documents"]])
        rows = whole["collections"]
        self.assertAlmostEqual(sum(row["verified_seconds"] for row in rows), whole["verified_seconds"], places=6)
        predicted = [row["predicted_verified"] for row in rows]
        high = sum(one["seconds"] for one in predicted) + sum((one["high"] - one["seconds"]) ** 2 for one in predicted) ** 0.5
        self.assertAlmostEqual(high, whole["predicted_verified"]["high"], places=6)
        self.assertEqual((0, True), (whole["status"], whole["is_within"]))
        whole = self.targets(text, "--predict-only", "--within", "1ms", status=6)[-1]
        self.assertEqual((6, False, None), (whole["status"], whole["is_within"], whole["verified_seconds"]))

    def test_several_stops(self):
        """a mistake in the last one is found before the first is drilled; nothing is made"""
        good = "- {collection: %s.others, files: a.csv, format: mot}\n" % self.database
        bad = "- {collection: %s.results, %%s}\n" % self.database
        self.write("other.txt", "no record of this format\n" * 2000)
        self.write("b.csv", livetest.rows(500, 4, bad=set(range(100, 110))))
        for status, keys, said in ((5, "files: none.csv, format: mot", "none.csv: "),
                                   (1, "files: a.csv, format: mott", "did you mean 'mot'"),
                                   (1, 'files: a.csv, format: mot, index: "none:1"', "--index none:1: the documents"),
                                   (5, "files: other.txt, format: mot", "other.txt"),
                                   (3, "files: b.csv, format: mot, max-rejects: 5", "`tipple parse`"),
                                   (1, "files: a.csv, format: mot, query: 'mot:none'", "has no query 'none'")):
            with self.subTest(keys):
                self.assertEqual([], self.targets(good + bad % keys, "--no-predict", status=status))
                self.assertIn("tipple: %s.results: " % self.database, self.stderr)
                self.assertIn(said, self.stderr)
                self.assertNotIn("drill: loading", self.stderr)

    def test_dumps(self):
        """a dump is drilled by collection: one that is named, or each of them under its own name"""
        texts = {"one": 300, "two": 200}
        self.write("d.archive", archive({"%s.%s" % (self.database, name): [
            minimongo.encode({"k": i, "of": name}) for i in range(count)] for name, count in texts.items()}))
        for text in ("".join("- {collection: %s.%s, files: d.archive}\n" % (self.database, name) for name in texts),
                     "- {files: d.archive, index: 'k:1'}\n"):
            said = self.targets(text, "--no-predict")
            self.assertEqual([self.database + "." + name for name in texts], [one["namespace"] for one in said[:-1]])
            self.assertEqual(list(texts.values()), [one["drills"][0]["verified"] for one in said[:-1]])

    # -------------------------------------------------------------------------------------------- what goes wrong

    def test_difference(self):
        """a document that changes between load and verify: status 7, and in the last sentence"""
        self.hold("createIndexes")
        self.addCleanup(self.hold, "")
        process = self.start("--no-predict", "--index", "k:1", "--within", "1h", "a.csv")
        self.assertTrue(self.heard(process, "drill: building the indexes"))
        self.assertTrue(livetest.wait_for(self.scratch))
        name = self.scratch()
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, name) == self.ROWS))
        self.client.command(self.database, {"update": name, "updates": [
            {"q": {"t": {"$gt": 0}}, "u": {"$set": {"k": "another"}}}]})
        self.hold("")
        status, out, said = self.ended(process)
        self.assertEqual(7, status, said)
        self.assertRegex(out.splitlines()[-1], ": 1 changed$")
        self.assertNotIn("within 1 h", out)
        self.assertEqual([], self.scratch_names())

    def test_first_query(self):
        """one of a suite of one's own: its answer is checked; without a suite it is any document"""
        suite = "suite: own\nqueries:\n  - {name: all, pipeline: [{$count: n}], expect: {documents: %d}}\n"
        self.write("own.yaml", suite % 1)
        said = self.drill("--no-predict", "--query", "./own.yaml:all", "a.csv")
        self.assertEqual(("./own.yaml:all", 1), (said["query"], said["drills"][0]["query_returned"]))
        self.write("own.yaml", suite % 2)
        said = self.drill("--no-predict", "--query", "./own.yaml:all", "a.csv", status=7)
        self.assertRegex(said["drills"][0]["difference"], "^all: ")
        self.assertEqual((0, self.ROWS), (said["drills"][0]["differences"], said["drills"][0]["verified"]))
        self.tipple("generate", "ycsb", "--rows", "200", "-o", "y.csv")
        done = self.tipple("drill", "--format", "ycsb", "--uri", self.uri(), "--json", "--no-predict", "y.csv")
        said = json.loads(done.stdout)
        self.assertEqual(("one document", 1), (said["query"], said["drills"][0]["query_returned"]))

    def test_rejects(self):
        """status 2, as of a load; kept only where --rejects says so"""
        self.write("a.csv", livetest.rows(400, 5, bad={7, 9}))
        said = self.drill("--sample", "100", "a.csv", status=2)
        self.assertEqual((398, 2), (said["drills"][0]["load"]["loaded"], said["drills"][0]["load"]["rejected"]))
        self.assertIn("2 of 100 records", self.stderr)
        self.assertEqual(1, self.stderr.count("sample are rejected"))
        self.assertIn("not kept: --rejects FILE", self.stderr)
        self.drill("--no-predict", "--rejects", "kept", "a.csv", status=2, touches=True)
        self.assertNotIn("not kept", self.stderr)
        self.assertEqual([7, 9], [(int(entry[2]) - 2) for entry in self.entries("kept")])
        self.drill("--no-predict", "--max-rejects", "1", "a.csv", status=3, touches=True)

    def test_interrupted(self):
        """Ctrl-C in a scratch drill that is loading or builds its indexes, nightly in each phase"""
        self.addCleanup(self.hold, "")
        for number, (announced, command) in enumerate(livedrill.ANNOUNCED):
            if command not in ("insert", "createIndexes") and not livetest.NIGHTLY:
                continue
            with self.subTest(announced):
                self.hold(command)
                _, said = self.interrupted(announced)
                # a load looks for signals before its first document, and then all of the time
                noticed = [words for words, _ in livedrill.ANNOUNCED[number:3 if number < 2 else number + 1]]
                self.assertRegex(said, "interrupted while (%s)" % "|".join(noticed))
        self.hold("insert")
        self.interrupted("loading samples", signal.SIGTERM, "--sample", "500")

    def interrupted(self, announced, number=signal.SIGINT, *words):
        if not words:
            return super().interrupted(announced, number)
        process = self.start("--index", "k:1", *words, "a.csv")
        self.assertTrue(self.heard(process, announced))
        self.assertTrue(livetest.wait_for(self.scratch))
        process.send_signal(number)
        self.hold("")
        status, _, said = self.ended(process)
        self.assertEqual((-number, []), (status, self.scratch_names()), said)
        return None, said

    def test_server_dies(self):
        """status 4, what was done is reported; the next drill clears up"""
        self.hold("insert")
        process = self.start("--no-predict", "--patience", "1s", "a.csv")
        self.assertTrue(self.heard(process, "drill: loading"))
        self.down()
        self.relays.cut()
        status, out, said = self.ended(process)
        self.assertEqual(4, status, said)
        self.assertRegex(said, "while loading: ")
        self.assertNotIn("--drop", said)  # a drill has no such option
        self.assertRegex(out, r"(?m)^create  ")
        self.assertRegex(out, r"(?m)^whole  ")
        self.up()
        self.reconnect()
        self.hold("")
        done = self.tipple(*self.drill_words("--no-predict", "a.csv"))
        self.assertIn("left from a study", done.stderr)
        self.assertEqual([], self.scratch_names())


livetest.main()
