"""tipple drill: phases, forecasts, history, and that only what was named twice is dropped.
needs: none"""
import json
import signal
import subprocess

import live
import livedrill
import livetest
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
                          "--within", "1h", "--history", "drills.log", "a.csv", touches=True)
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
        self.assertEqual(("scratch", "mot", "mot greenness", self.ROWS, True),
                         tuple(said[key] for key in ("mode", "format", "query", "documents", "documents_exact")))
        self.assertEqual(self.database + ".results", said["namespace"])
        self.assertTrue(said["collection"].startswith(self.database + "." + livedrill.SCRATCH))
        self.assertEqual((2, 100, ["k:1", "t:-1"]), (drill["load"]["threads"], drill["load"]["batch"],
                                                     [index["keys"] for index in drill["load"]["indexes"]]))
        self.assertEqual((self.bands(), 0, None), (drill["query_returned"], drill["differences"], drill["difference"]))
        self.assertLessEqual(drill["query_seconds"], self.phases(drill)["first query"]["seconds"])

    def test_guessed(self):
        """without --format: guessed once, for samples, drill and verify"""
        self.FORMAT = ()
        rows = [b"%d;%d,5;x%d\n" % (i, i, i) for i in range(2000)]
        self.write("b.csv", b"k;n;t\n" + b"".join(rows))
        said = self.drill("--index", "k:1", "-t", "k:text", "b.csv")
        drill, = said["drills"]
        self.assertEqual(("guessed", 2000, True, 0), (said["format"], said["documents"], said["documents_exact"],
                                                      drill["differences"]))
        self.assertEqual(1, self.stderr.count("read as CSV"))

    def test_kept(self):
        """without --format: as the catalog of the target keeps it; other words for the guess are answered"""
        self.FORMAT = ()
        self.write("b.csv", b"1;a\n" + b"".join(b"%d;x%d\n" % (i, i) for i in range(2000)))
        self.tipple("load", "--uri", self.uri(), "--with", "header=no", "-t", "column_1:k:text", "b.csv")
        said = self.drill("--predict-only", "--sample", "500", "b.csv")
        self.assertNotIn("read as CSV", self.stderr)
        self.assertEqual(2001, said["documents"])
        self.drill("--predict-only", "--sample", "500", "--with", "header=yes", "b.csv")
        self.assertIn("kept when", self.stderr)

    def test_for_a_person(self):
        """the table has each phase, and the last line is the sentence"""
        done = self.tipple(*self.drill_words(*livedrill.SMALL, "--index", "k:1", "a.csv"))
        lines = done.stdout.decode().splitlines()
        for name in livedrill.PHASES:
            self.assertEqual(name != "place", any(line.startswith(name + "  ") for line in lines), name)
        self.assertRegex(lines[-1], r"^from nothing .* \d+ %; mot greenness ")
        self.assertRegex(done.stderr, r"predicted for 3,000 documents")
        for words, _ in livedrill.ANNOUNCED:
            self.assertIn("drill: " + words, done.stderr)

    def test_scale(self):
        """only samples, of several sizes and often; as many documents as were asked for; nothing for the history"""
        said = self.drill("--sample", "800", "--scale", "900g", "--index", "k:1", "a.csv")
        drill, = said["drills"]
        self.assertRegex(self.stderr, r"disk has .* left")
        self.assertEqual(("scale", 900 * 10**9, None, False),
                         (said["mode"], said["documents"], drill["load"], drill["finished"]))
        self.assertEqual([100, 200, 400, 800, 800, 400, 200, 100, 100, 200, 400, 800],
                         [sample["documents"] for sample in said["samples"]])
        for phase in drill["phases"]:
            self.assertIsNone(phase["seconds"])
            self.assertLessEqual(phase["predicted"]["low"], phase["predicted"]["seconds"])
            self.assertLessEqual(phase["predicted"]["seconds"], phase["predicted"]["high"])
        load = self.phases(drill)["load"]["predicted"]
        self.assertGreater(load["high"], load["low"])

    def test_all_the_files_hold(self):
        """--predict-only: what the filter lets through of all files"""
        self.write("b.csv", livetest.rows(500, 4))
        passing = sum(line.split(b"|")[7] == b"B" for name in ("a.csv", "b.csv")
                      for line in (self.folder / name).read_bytes().splitlines()[1:])
        said = self.drill("--predict-only", "--filter", "s==B", "--sample", "5000", "a.csv", "b.csv")
        self.assertAlmostEqual(passing, said["documents"], delta=1)
        self.assertFalse(said["documents_exact"])
        self.assertRegex(self.stderr, r"predicted for about")

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

    def test_within(self):
        """too slow is status 6, measured or predicted; everything is printed all the same"""
        done = self.tipple(*self.drill_words("--no-predict", "--within", "1ms", "a.csv"), status=6)
        self.assertRegex(done.stdout.decode(), r"(?m)^within 1 ms: no \(")
        self.assertIn("--within allows 1 ms", done.stderr)
        said = self.drill("--no-predict", "--within", "1ms", "a.csv", status=6)
        self.assertEqual((0.001, False), (said["within_seconds"], said["is_within"]))

    # ------------------------------------------------------------------------------------------- the target itself

    def test_named_twice(self):
        """the target is dropped and is there again; under any other name nothing is touched"""
        self.load("--create", '{"clusteredIndex": false}', "a.csv")
        self.client.insert(self.database, "results", [{"_id": "somebody's"}])
        books = livetest.Books().plain("a.csv", self.text)
        for name in ("results", self.database, self.database + ".result", self.database + ".Results", "x.results"):
            self.assertIsNone(self.drill("--drop", name, "a.csv", status=1))
            self.assertIn("named twice", self.stderr)
        self.assertEqual(self.ROWS + 1, self.client.count(self.database, "results"))
        uuid = self.everything()["results"][0]
        said = self.drill(*livedrill.SMALL, "--drop", self.database + ".results", "a.csv", touches=True)
        self.adds_up(said["drills"][0], self.ROWS)
        self.assertEqual("real", said["mode"])
        self.holds(livetest.Books(after=books).plain("a.csv", self.text))
        self.assertNotEqual(uuid, self.everything()["results"][0])
        listed = self.client.command(self.database, {"listCollections": 1, "filter": {"name": "results"}})
        self.assertNotIn("clusteredIndex", listed["cursor"]["firstBatch"][0]["options"])
        self.assertEqual(0, self.load("a.csv")["read"])

    def index_keys(self):
        listed = self.client.command(self.database, {"listIndexes": "results"})["cursor"]["firstBatch"]
        return sorted(json.dumps(index) for index in listed if not index.get("clustered"))

    def test_indexes_come_back(self):
        """the target's own indexes are built again; one that cannot be is a reason to touch nothing"""
        self.load("--index", "k:-1,d:1", "--index", "s:hashed", "a.csv")
        filtered = {"key": {"y": 1, "t": 1}, "name": "few", "unique": True, "partialFilterExpression": {"y": {"$exists": True}}}
        self.client.command(self.database, {"createIndexes": "results", "indexes": [filtered]})
        keys = self.index_keys()
        said = self.drill("--no-predict", "--drop", self.database + ".results", "a.csv", touches=True)
        self.assertEqual(["k_-1_d_1", "s_hashed", "few"],
                         [index["keys"] for index in said["drills"][0]["load"]["indexes"]])
        self.assertEqual(keys, self.index_keys())
        self.client.command(self.database, {"createIndexes": "results", "indexes": [
            {"key": {"t": 1}, "name": "aging", "expireAfterSeconds": 2000000000}]})
        self.assertIsNone(self.drill("--drop", self.database + ".results", "a.csv", status=1))
        self.assertIn("not make again: aging", self.stderr)

    def test_while_it_is_loaded(self):
        """a target that is being loaded is not dropped under the load"""
        self.client.command("admin", {"configureFailPoint": "failCommand", "mode": {"skip": 5}, "data": {
            "failCommands": ["insert"], "blockConnection": True, "blockTimeMS": 2000, "appName": "tipple",
            "namespace": self.database + ".results"}})
        self.addCleanup(self.client.command, "admin", {"configureFailPoint": "failCommand", "mode": "off"})
        loading = subprocess.Popen(self.command(*self.words("--batch", "20", "--threads", "1", "a.csv")),
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(loading.wait)
        self.addCleanup(loading.kill)
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 0))
        done = self.tipple(*self.drill_words("--no-predict", "--drop", self.database + ".results", "a.csv"), status=1)
        self.assertIn("is being loaded", done.stderr)
        self.assertNotIn("is not whole", done.stderr)
        self.assertGreater(self.client.count(self.database, "results"), 0)

    # -------------------------------------------------------------------------------------------- what goes wrong

    def test_difference(self):
        """a document that changes between load and verify: status 7, and in the last sentence"""
        self.hold("createIndexes")
        self.addCleanup(self.hold, "")
        process = self.start("--no-predict", "--index", "k:1", "a.csv")
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
        self.assertEqual([], self.scratch_names())

    def test_first_query(self):
        """one of a suite of one's own: its answer is checked; without a suite it is a document by its _id"""
        suite = "suite: own\nqueries:\n  - {name: all, pipeline: [{$count: n}], expect: {documents: %d}}\n"
        self.write("own.yaml", suite % 1)
        said = self.drill("--no-predict", "--query", "./own.yaml:all", "a.csv")
        self.assertEqual(("./own.yaml all", 1), (said["query"], said["drills"][0]["query_returned"]))
        self.write("own.yaml", suite % 2)
        said = self.drill("--no-predict", "--query", "./own.yaml", "a.csv", status=7)
        self.assertRegex(said["drills"][0]["difference"], "^all: ")
        self.assertEqual((0, self.ROWS), (said["drills"][0]["differences"], said["drills"][0]["verified"]))
        self.tipple("generate", "ycsb", "--rows", "200", "-o", "y.csv")
        done = self.tipple("drill", "--format", "ycsb", "--uri", self.uri(), "--json", "--no-predict", "y.csv")
        said = json.loads(done.stdout)
        self.assertEqual(("one document by its _id", 1), (said["query"], said["drills"][0]["query_returned"]))

    def test_first_query_refused(self):
        """when the target was dropped and loaded again, a query that is refused is not status 1: nothing was touched"""
        self.write("own.yaml", "suite: own\nqueries:\n  - name: by-make\n    find: {filter: {k: FORD}}\n"
                   "    setup: {indexes: [{key: {k: 1}}]}\n")
        words = "--no-predict", "--query", "./own.yaml:by-make", "a.csv"
        self.load("a.csv")
        self.client.insert(self.database, "results", [{"_id": "of a person"}])
        said = self.drill(*words, status=1)
        self.assertFalse(said["drills"][0]["finished"])
        said = self.drill("--drop", self.database + ".results", *words, status=4, touches=True)
        self.assertEqual((4, False), (said["status"], said["drills"][0]["finished"]))
        self.assertIn("needs the index k_1", self.stderr)
        self.assertEqual(self.ROWS, self.client.count(self.database, "results"))

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

    def test_drop_of_settings(self):
        """options and indexes come back as they were"""
        options = {"validator": {"k": {"$exists": True}}, "collation": {"locale": "de"},
                   "storageEngine": {"wiredTiger": {"configString": "block_compressor=zlib,leaf_page_max=64KB"}}}
        indexes = [{"key": {"d": 1}, "name": "by day", "hidden": True}, {"key": {"k": "text"}, "name": "words"},
                   {"key": {"t": -1}, "name": "t_-1", "collation": {"locale": "fr"}, "unique": False}]
        indexes[1]["collation"] = {"locale": "simple"}
        self.client.command(self.database, {"create": "results", **options})
        self.client.command(self.database, {"createIndexes": "results", "indexes": indexes})
        made = self.settings()
        self.drill("--no-predict", "--drop", self.database + ".results", "a.csv", touches=True)
        self.assertEqual(made, self.settings())

    def settings(self):
        entry, = self.client.command(self.database, {"listCollections": 1, "filter": {"name": "results"}})["cursor"]["firstBatch"]
        indexes = self.client.command(self.database, {"listIndexes": "results"})["cursor"]["firstBatch"]
        return entry["options"], sorted(indexes, key=lambda index: index["name"])

    def test_drop_of_other_inputs(self):
        """a target is not dropped where an input that was loaded is not loaded again, or has changed"""
        drop = ("--no-predict", "--drop", self.database + ".results")
        for name in ("b.csv", "c.csv"):
            self.write(name, livetest.rows(100, 7 if name == "b.csv" else 8))
        self.load("a.csv", "b.csv")
        before = self.client.count(self.database, "results")
        for inputs in (["a.csv"], ["a.csv", "c.csv"]):
            self.assertIsNone(self.drill(*drop, *inputs, status=1))
            self.assertIn("1 of the 2 inputs", self.stderr)
        self.write("b.csv", livetest.rows(100, 9))
        self.assertIsNone(self.drill(*drop, "a.csv", "b.csv", status=5))
        self.assertEqual(before, self.client.count(self.database, "results"))

    def test_drop_of_other_documents(self):
        """what was loaded with an option that a drill has not would come back as other documents"""
        for words in ["--id", "t"], ["--filter", "k=FORD"], ["--append"]:
            with self.subTest(words[0]):
                self.client.command(self.database, {"dropDatabase": 1})
                if "--append" in words:  # beside documents of others, which would not come back
                    self.client.insert(self.database, "results", [{"_id": "a person's"}])
                self.load(*words, "a.csv", status=(0, 2))
                before = self.client.count(self.database, "results")
                self.assertIsNone(self.drill("--no-predict", "--drop", self.database + ".results", "a.csv", status=1))
                self.assertIn("was loaded with %s" % words[0], self.stderr)
                self.assertEqual(before, self.client.count(self.database, "results"))
        self.client.command(self.database, {"dropDatabase": 1})
        self.load("--filter", "k=FORD", "a.csv")
        self.drill("--no-predict", "--drop", self.database + ".results", "--filter", "k=FORD", "a.csv", touches=True)
        self.load("a.csv", "--filter", "k=FORD", "--drop", "--yes")
        self.assertIsNone(self.drill("--no-predict", "--drop", self.database + ".results", "--filter", "k=BMW", "a.csv", status=1))

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

    def test_real_interrupted(self):
        """the catalog stays, and the line that is said resumes from there"""
        self.load("--index", "k:1", "a.csv")
        books = livetest.Books().plain("a.csv", self.text)
        self.addCleanup(self.hold, "")
        for announced, command in (("loading", "insert"), ("building the indexes", "createIndexes")):
            self.hold(command)
            process = self.start("--no-predict", "--drop", self.database + ".results", "a.csv")
            self.assertTrue(self.heard(process, "drill: " + announced))
            process.send_signal(signal.SIGINT)
            self.hold("")
            status, _, said = self.ended(process)
            self.assertEqual(-signal.SIGINT, status, said)
            line = said[said.index("\ntipple load ") + 1:].splitlines()[0]
            self.assertIn(""" --index '{ "key" : { "k" : 1 }, "name" : "k_1" }' a.csv""", line)
            subprocess.run(["sh", "-c", line.replace("tipple", live.TIPPLE, 1)], cwd=self.folder, check=True,
                           timeout=livetest.LONG, stdout=subprocess.DEVNULL)
            books = livetest.Books(after=books).plain("a.csv", self.text)
            self.holds(books)
            self.assertIn('{"v": 2, "key": {"k": 1}, "name": "k_1"}', self.index_keys())

    def test_server_dies(self):
        """status 4, what was done is told; the next drill clears up"""
        self.hold("insert")
        process = self.start("--no-predict", "--patience", "1s", "a.csv")
        self.assertTrue(self.heard(process, "drill: loading"))
        self.down()
        self.relays.cut()
        status, out, said = self.ended(process)
        self.assertEqual(4, status, said)
        self.assertRegex(said, "while loading: ")
        self.assertRegex(out, r"(?m)^create  ")
        self.assertRegex(out, r"(?m)^whole  ")
        self.up()
        self.reconnect()
        self.hold("")
        done = self.tipple(*self.drill_words("--no-predict", "a.csv"))
        self.assertIn("left from a study", done.stderr)
        self.assertEqual([], self.scratch_names())


livetest.main()
