"""--report: pages that load, query, tune, drill and verify write, next to what the same run says with --json.
needs: standalone; locks: failpoints"""
import json
import signal
import subprocess
import unittest

import livereport
import livetest
import livetune

HOSTILE = b"<script>alert(1)</script>"
TUNE = ("--threads", "1,2", "--batch", "100,2000", "--sample", "12k", "--budget", "30s")


def count(text):
    return int(text.replace(",", ""))


OLDER = '<!DOCTYPE html>\n<meta name="generator" content="tipple">'  # a report, as far as a new one may replace it

class Report(livetest.Case):
    def setUp(self):
        super().setUp()
        self.write("a.csv", livetest.rows(2500, 3, bad=(7, 8)).replace(b"FORD", HOSTILE))
        self.environment = {"XDG_CACHE_HOME": str(self.folder / "cache")}

    def said(self, *words, status=0, uri=None):
        """What --json says of a run that also writes a report."""
        done = self.tipple(words[0], "--uri", uri or self.uri(), "--json", *words[1:], status=status,
                           **self.environment)
        self.stderr = done.stderr
        return json.loads(done.stdout) if done.stdout else None

    def page(self, name):
        return livereport.Page(self.folder / name)

    # ---- load

    def check_load(self, said, page):
        """A page next to --json."""
        self.assertEqual({name for name, figure in said.items() if not isinstance(figure, list) and figure is not None},
                         {"schema", "command", "status"} | set(page.figures))
        for name in ("read", "loaded", "already_there", "rejected", "filtered", "batches", "files"):
            self.assertEqual(said[name], count(page.figures[name]), name)
        self.assertEqual(said["limited_by"], page.figures["limited_by"])
        self.assertEqual([str(said["threads"]), "100", "yes"], [page.figures[name] for name in ("threads", "batch", "clustered")])

    def test_load(self):
        """the figures of a page are those of --json; rejects have places and reasons; a page of before is replaced"""
        words = ("--format", "mot", "--batch", "100", "--threads", "2", "--index", "k:1", "a.csv")
        (self.folder / "older.html").write_text(OLDER)
        (self.folder / "load.html").symlink_to("older.html")
        said = self.said("load", *words, "--report", "load.html", status=2)
        self.assertTrue((self.folder / "load.html").is_symlink())
        page = self.page("load.html")
        self.assertEqual((2498, 2), (said["loaded"], said["rejected"]))
        self.check_load(said, page)
        self.assertIn(self.database + ".results", page.text)
        self.assertEqual(["looking at files, server and catalog", "creating the collection",
                          "comparing the files with the catalog", "loading", "indexes",
                          "writing down how the load ended"],
                         [phase["phase"] for phase in page.tables["Where the time went"]])
        self.assertEqual(["a.csv:9:", "a.csv:10:"],
                         [row["file, line and column"].rpartition(":")[0] + ":" for row in page.tables["Rejected records"]])
        self.assertTrue(all(row["reason"] for row in page.tables["Rejected records"]))
        self.assertEqual([{"input": "a.csv"}], page.tables["Inputs"])
        self.assertIn("Loaded 2,498 documents in ", page.sentence)
        self.assertIn("rejected: 2", page.sentence)
        self.assertEqual("mot", page.figures["format"])
        self.assertTrue(any(line.startswith("tipple load --retry ") for line in page.lines))

    def test_what_is_next(self):
        """the report of a load that did not end well says no other than the terminal of what to do next"""
        def interrupted(collection, *words):
            process = subprocess.Popen(self.command("load", "--format", "mot", "--uri", self.uri(collection),
                                                    "--max-rate", "50", "--report", "load.html", *words),
                                       cwd=self.folder, stdin=open(self.folder / "a.csv", "rb"),
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
            self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, collection) > 0))
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=livetest.LONG)
            self.assertEqual(-signal.SIGINT, process.returncode)
            return self.page("load.html").sentence
        sentence = interrupted("dropped", "--drop", "--yes", "a.csv")
        self.assertTrue(sentence.startswith("Interrupted; "), sentence)
        self.assertIn("but without --drop", sentence)
        self.assertIn("no name by", interrupted("stream", "-"))
        self.tipple("load", "--format", "mot", "--uri", self.uri(), "a.csv", status=2)
        self.write("a.csv", livetest.rows(2500, 4))
        self.tipple("load", "--format", "mot", "--uri", self.uri(), "--report", "load.html", "a.csv", status=5)
        self.assertNotIn("resumes from there", self.page("load.html").sentence)

    # ---- query

    def test_query(self):
        """measurements are those of --json, and what stands in the data does nothing"""
        self.said("load", "--format", "mot", "a.csv", status=2)
        words = ("--suite", "mot", "--repeats", "3", "--warmup", "0", "--clients", "1,2", "by-make", "by-year")
        said = self.said("query", *words, "--report", "query.html")
        page = self.page("query.html")
        self.assertEqual(["by-make", "by-make, 2 clients", "by-year", "by-year, 2 clients"],
                         [row["query"] for row in page.tables["Measurements"]])
        for row, query in zip(page.tables["Measurements"], said["queries"]):
            self.assertEqual(str(query["n"]), row["n"])
            for name, field in (("mean ms", "mean_ms"), ("min", "min_ms"), ("max", "max_ms"), ("ops/s", "ops_per_second")):
                self.assertAlmostEqual(query[field], float(row[name]), delta=0.01 * query[field])
        self.assertEqual(said["documents"], count(page.figures["documents"]))
        self.assertNotIn("<script", page.text)

    # ---- tune

    def test_tune(self):
        """every setting with its figures, best and cheapest, and the line to paste"""
        uri = livetune.slow(self)
        words = ("tune", "--format", "mot", *TUNE)
        said = self.said(*words, "--report", "tune.html", "a.csv", uri=uri)
        page = self.page("tune.html")
        rows = page.tables["Settings"]
        self.assertEqual(["too small", "best, cheapest", "too small"], [row[""] for row in rows[1:]])
        self.assertAlmostEqual(said["best"]["bytes_per_document"], float(rows[2]["bytes/doc"].partition(" ")[0]), delta=1)
        self.assertEqual(str(said["best"]["trials"]), rows[2]["trials"])
        self.assertEqual("-", rows[1]["docs/s"])
        self.assertIn(said["load"], page.lines)
        self.assertRegex(page.sentence, "^2 x 100 .threads x batch. at ")
        self.said("tune", "--format", "mot", "--threads", "2", *livetune.SLOW, "--budget", "9s", "--report", "one.html", "a.csv", uri=uri)
        page = self.page("one.html")
        self.assertEqual(["not compared"], [row[""] for row in page.tables["Settings"]])
        self.assertIn("nothing was compared", page.sentence)

    # ---- drill

    def test_drill(self):
        """each phase next to what was predicted of it, and the sentence"""
        words = ("--format", "mot", "--sample", "500", "--index", "k:1", "b.csv")
        self.write("b.csv", livetest.rows(2000, 5))
        said = self.said("drill", *words, "--report", "drill.html")
        page = self.page("drill.html")
        phases = [row["phase"] for row in page.tables["Phases"]]
        self.assertEqual({phase["phase"] for phase in said["drills"][0]["phases"] if phase["seconds"] is not None},
                         {row["phase"] for row in page.tables["Phases"][:-1] if row["measured"] != "-"})
        self.assertEqual("whole", phases[-1])
        self.assertLessEqual({"load", "verify", "first query"}, set(phases))
        self.assertTrue(page.sentence.startswith("From nothing to verified in "), page.sentence)
        self.said("drill", *words, "--predict-only", "--report", "predicted.html")
        page = self.page("predicted.html")
        self.assertTrue(page.sentence.startswith("Predicted: from nothing to verified in "), page.sentence)
        self.write("all.yaml", "- {collection: %s.results, files: b.csv, format: mot}\n" % self.database)
        self.tipple("drill", "--uri", self.uri().replace("/%s.results" % self.database, "/"), "--targets", "all.yaml", "--no-predict",
                    "--report", "all.html")
        page = self.page("all.html")
        self.assertEqual([self.database + ".results", "all"], [row["collection"] for row in page.tables["Collections"]])

    def test_verify(self):
        """all is as expected; then what differs is named in a table, with the same figures as in --json"""
        self.said("load", "--format", "mot", "a.csv", status=2)
        self.said("verify", "--format", "mot", "--report", "verify.html", "a.csv")
        (self.folder / "verify.html").chmod(0o600)
        self.said("verify", "--format", "mot", "--report", "verify.html", "a.csv")
        self.assertEqual(0o600, (self.folder / "verify.html").stat().st_mode & 0o777)
        page = self.page("verify.html")
        self.assertEqual("Verified 2,498 documents of 1 file: none missing, none extra, none duplicated, none changed, none unrelated.", page.sentence)
        self.assertNotIn("Differences", page.tables)
        first = self.documents()[0]["_id"]
        self.client.command(self.database, {"update": "results", "updates": [{"q": {"_id": first}, "u": {"$set": {"k": "<b>"}}}]})
        self.client.insert(self.database, "results", [{"_id": "mine"}])
        said = self.said("verify", "--format", "mot", "--report", "differs.html", "a.csv", status=7)
        page = self.page("differs.html")
        self.assertEqual(["1", "1", "0", "2,497"],
                         [page.figures[name] for name in ("changed", "unrelated", "missing", "as_expected")])
        self.assertEqual(said["documents_in_collection"], count(page.figures["documents_in_collection"]))
        self.assertEqual([("changed", str(first), "k"), ("unrelated", '"mine"', "")],
                         [(row["kind"], row["_id"], row["field"]) for row in page.tables["Differences"]])
        self.assertIn(": none missing, none extra, none duplicated, 1 changed, 1 unrelated", page.sentence)
        self.assertIn("exit status 7", page.text)

    # ---- pages in a browser

    @livetest.nightly
    def test_pages(self):
        """on a phone and a desk, light and dark, printed: nothing sticks out, is asked for, or complained of"""
        if not livereport.BROWSER:
            raise unittest.SkipTest("there is no browser: install the package chromium, or set TIPPLE_CHROMIUM")
        self.said("load", "--format", "mot", "--batch", "100", "--report", "load.html", "a.csv", status=2)
        self.said("load", "--format", "mot", "--report", "nothing.html", "a.csv", status=2)
        self.said("query", "--suite", "mot", "--repeats", "3", "--warmup", "0", "--clients", "1,2",
                  "--report", "query.html", "by-make", "by-year")
        self.write("b.csv", livetest.rows(2000, 5))
        self.said("drill", "--format", "mot", "--sample", "500", "--report", "drill.html", "b.csv")
        self.client.insert(self.database, "results", [{"_id": "mine"}])
        self.said("verify", "--format", "mot", "--report", "verify.html", "a.csv", status=7)
        self.said("tune", "--format", "mot", *TUNE, "--report", "tune.html", "a.csv", uri=livetune.slow(self))
        names = ["load.html", "nothing.html", "query.html", "tune.html", "drill.html", "verify.html"]
        for name in names:
            self.page(name)
        livereport.look_at(self, self.folder, [self.folder / name for name in names])


livetest.main()
