"""--report: pages and documents that load, query and tune write, beside what the same run says with --json.
needs: standalone; locks: failpoints"""
import gzip
import json
import os
import signal
import subprocess
import unittest

import chromium
import live
import livereport
import livetest
import livetune

HOSTILE = b"<script>alert(1)</script>"
TUNE = ("--threads", "2", "--batch", "100,2000", "--sample", "12k", "--budget", "16s")


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

    def document(self, name):
        return livereport.document(self.folder / name)

    # ---- load

    def check_load(self, said, found):
        """A document beside --json."""
        figures = livereport.figures(found)
        for field, name in (("loaded", "documents loaded"), ("batches", "batches sent"), ("files", "files"),
                            ("peak_memory_bytes", "peak memory"), ("limited_by", "limited by")):
            self.assertEqual(said[field], figures[name], name)
        self.assertAlmostEqual(said["seconds"], figures["took"], 5)
        outcomes = {row["outcome"]: row["records"] for row in livereport.rows(
            livereport.section(found, "What became of the records"))}
        self.assertEqual({name: said[name.replace(" ", "_")]
                          for name in ("loaded", "already there", "rejected", "filtered")}, outcomes)
        times = livereport.section(found, "How long a batch took")["series"][0]["points"]
        self.assertEqual(sorted(times), times)
        self.assertEqual((0, 100), (times[0][0], times[-1][0]))
        self.assertEqual(sorted(y for _, y in times), [y for _, y in times])
        self.assertEqual((said["threads"], said["batch"], said["clustered"]),
                         tuple(found["settings"][name] for name in ("threads", "batch", "clustered")))

    def test_load(self):
        """a document and a page of the same load, twice: figures are those of --json, and a file is replaced"""
        words = ("--format", "mot", "--batch", "100", "--threads", "2", "--index", "k:1", "a.csv")
        said = self.said("load", *words, "--report", "load.json", status=2)
        found = self.document("load.json")
        self.assertEqual((2498, 2, 2), (said["loaded"], said["rejected"], found["status"]))
        self.check_load(said, found)
        self.assertEqual(self.database + ".results", found["target"])
        did = [row["share of their time"] for row in livereport.rows(livereport.section(found, "What the loading threads did"))]
        self.assertAlmostEqual(100, sum(did), 3)
        phases = livereport.section(found, "Where the time went")["items"]
        self.assertEqual(["looking at files, server and catalog", "creating the collection",
                          "comparing the files with the catalog", "loading", "indexes",
                          "writing down how the load ended"],
                         [phase["name"] for phase in phases])
        for phase, following in zip(phases, phases[1:]):  # each is one stretch, behind the one before
            self.assertLessEqual(phase["began"] + phase["took"], following["began"] + 1e-6)
        (self.folder / "load.html").write_text(OLDER)
        said = self.said("load", "--drop", "--yes", *words, "--report", "load.html", status=2)
        page = self.page("load.html")
        self.assertEqual((said["loaded"], said["batches"]),
                         (count(page.figures["documents loaded"]), count(page.figures["batches sent"])))
        self.assertEqual({"outcome": "rejected", "records": "2", "share": "0.1 %"},
                         page.tables["What became of the records"][2])
        self.assertIn("Loaded 2,498 documents in ", page.sentence)
        self.assertIn("rejected: 2", page.sentence)
        self.assertEqual("mot", page.settings["format"])

    def test_again(self):
        """the command that a report names is the one that was given, and can be run"""
        self.said("load", "--format", "mot", "--filter", "k=='BMW' && m>=0", "--report", "a load.json", "a.csv",
                  status=2)
        line = self.document("a load.json")["settings"]["again"]
        path = os.path.dirname(os.path.abspath(live.TIPPLE))
        done = subprocess.run(["sh", "-c", line], cwd=self.folder, timeout=livetest.LONG, stdout=subprocess.PIPE,
                              check=False, env={**os.environ, "PATH": path + ":" + os.environ["PATH"]})
        self.assertEqual(2, done.returncode)  # the rejects of the first run are not fixed
        self.assertEqual(0, json.loads(done.stdout)["loaded"])
        self.assertIn("nothing left to load", self.document("a load.json")["sentence"])

    def test_what_is_next(self):
        """the report of a load that did not end well says no other than the terminal of what to do next"""
        def interrupted(collection, *words):
            process = subprocess.Popen(self.command("load", "--format", "mot", "--uri", self.uri(collection),
                                                    "--max-rate", "50", "--report", "load.json", *words),
                                       cwd=self.folder, stdin=open(self.folder / "a.csv", "rb"),
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
            self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, collection) > 0))
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=livetest.LONG)
            self.assertEqual(-signal.SIGINT, process.returncode)
            return self.document("load.json")["sentence"]
        sentence = interrupted("dropped", "--drop", "--yes", "a.csv")
        self.assertTrue(sentence.startswith("Interrupted after "), sentence)
        self.assertIn("but without --drop", sentence)
        self.assertIn("no name by", interrupted("stream", "-"))
        self.tipple("load", "--format", "mot", "--uri", self.uri(), "a.csv", status=2)
        self.write("a.csv", livetest.rows(2500, 4))
        self.tipple("load", "--format", "mot", "--uri", self.uri(), "--report", "load.json", "a.csv", status=5)
        self.assertNotIn("resumes from there", self.document("load.json")["sentence"])

    def test_failed(self):
        """a load whose file turns out to be broken has one, too"""
        self.write("b.csv.gz", gzip.compress(livetest.rows(2000))[:-500])
        done = self.tipple("load", "--format", "mot", "--uri", self.uri(), "--report", "load.json", "b.csv.gz",
                           status=5)
        found = self.document("load.json")
        self.assertEqual(5, found["status"])
        self.assertTrue(found["sentence"].startswith("Failed after "), found["sentence"])
        self.assertIn("b.csv.gz", found["sentence"])
        self.assertIn("b.csv.gz", done.stderr)

    # ---- query

    def test_query(self):
        """measurements are those of --json, answers are there, and what stands in the data does nothing"""
        self.said("load", "--format", "mot", "a.csv", status=2)
        words = ("--suite", "mot", "--repeats", "3", "--warmup", "0", "--clients", "1,2", "by-make", "by-year")
        said = self.said("query", *words, "--report", "query.json")
        found = self.document("query.json")
        rows = livereport.rows(livereport.section(found, "Measurements"))
        self.assertEqual(["by-make", "by-make, 2 clients", "by-year", "by-year, 2 clients"],
                         [row["query"] for row in rows])
        for row, query in zip(rows, said["queries"]):
            self.assertEqual(query["n"], row["requests"])
            for name, field in (("p50", "p50_ms"), ("p95", "p95_ms"), ("p99", "p99_ms"), ("mean", "mean_ms"),
                                ("least", "min_ms"), ("most", "max_ms"), ("requests a second", "ops_per_second")):
                if query[field] is None:
                    self.assertIsNone(row[name])
                else:
                    self.assertAlmostEqual(query[field], row[name], delta=1e-6 * query[field])
        self.assertEqual(said["documents"], livereport.figures(found)["documents"])
        self.said("query", *words, "--report", "query.html")
        page = self.page("query.html")
        self.assertEqual(4, len(page.tables["Measurements"]))
        self.assertIn(HOSTILE.decode(), page.tables["Answers"][0]["begins with"])
        self.assertNotIn("<script", page.text)

    # ---- tune

    def test_tune(self):
        """every setting with its figures, best and cheapest, and the line to paste"""
        uri = livetune.slow(self)
        said = self.said("tune", "--format", "mot", *TUNE, "--report", "tune.json", "a.csv", uri=uri)
        found = self.document("tune.json")
        rows = livereport.rows(livereport.section(found, "Settings"))
        self.assertEqual("best and cheapest", rows[0]["remark"])
        self.assertIn(rows[1]["remark"], ("too small", "not tried"))  # by what the budget left for it
        for name, field, places in (("documents a second", "docs_per_second", 1), ("from", "low", 1), ("to", "high", 1),
                                    ("bytes a document", "bytes_per_document", 2), ("trials", "trials", 0)):
            self.assertAlmostEqual(said["best"][field], rows[0][name], places)
        self.assertIsNone(rows[1]["documents a second"])
        self.assertEqual([said["load"]], livereport.section(found, "To load with the cheapest setting")["items"])
        livereport.render(found, self.folder / "tune.html")
        page = self.page("tune.html")
        self.assertEqual(2, len(page.tables["Settings"]))
        self.assertRegex(page.sentence, "^The cheapest .* is 2 threads x batch 100 ")

    # ---- drill

    def check_drill(self, said, found):
        """Phases, measured and predicted."""
        pictures = [each["items"] for each in found["sections"] if each["kind"] == "timeline"]
        self.assertEqual(len(said["drills"]), len(pictures))
        for each, items in zip(said["drills"], pictures):
            phases = {phase["phase"]: phase for phase in each["phases"]}
            for item in items:
                phase = phases[item["name"]]
                self.assertAlmostEqual(phase["seconds"], item["took"], 5)
                self.assertAlmostEqual(phase["began_seconds"], item["began"], 5)
                if phase["predicted"]:
                    self.assertAlmostEqual(phase["predicted"]["seconds"], item["predicted"], 5)
                else:
                    self.assertIsNone(item["predicted"])
            self.assertEqual(sorted(item["began"] for item in items), [item["began"] for item in items])
            self.assertLessEqual({"load", "verify", "first query"}, {item["name"] for item in items})

    def test_drill(self):
        """each phase beside what was predicted of it, and the sentence"""
        words = ("--format", "mot", "--sample", "500", "--index", "k:1", "b.csv")
        self.write("b.csv", livetest.rows(2000, 5))
        said = self.said("drill", *words, "--report", "drill.json")
        found = self.document("drill.json")
        self.check_drill(said, found)
        self.assertEqual((0, 2000), (found["status"], livereport.figures(found)["documents verified"]))
        self.assertTrue(found["sentence"].startswith("From nothing to verified in "), found["sentence"])
        self.said("drill", *words, "--scale", "1m", "--report", "scale.json")
        found = self.document("scale.json")
        self.assertTrue(found["sentence"].startswith("Predicted: from nothing to verified in "), found["sentence"])
        figures = livereport.figures(found)
        self.assertEqual(1000000, figures["documents predicted for"])
        self.assertNotIn("documents in the files", figures)  # they have 2,000

    def test_verify(self):
        """all is as expected; then what differs is named in a table, with the same figures as in --json"""
        self.said("load", "--format", "mot", "a.csv", status=2)
        self.said("verify", "--format", "mot", "--report", "verify.html", "a.csv")
        (self.folder / "verify.html").chmod(0o600)
        self.said("verify", "--format", "mot", "--report", "verify.html", "a.csv")
        self.assertEqual(0o600, (self.folder / "verify.html").stat().st_mode & 0o777)
        page = self.page("verify.html")
        self.assertEqual("Nothing differs: 2,498 documents of 1 file are as expected.", page.sentence)
        self.assertNotIn("Differences", page.tables)
        first = self.documents()[0]["_id"]
        self.client.command(self.database, {"update": "results", "updates": [{"q": {"_id": first}, "u": {"$set": {"k": "<b>"}}}]})
        self.client.insert(self.database, "results", [{"_id": "mine"}])
        said = self.said("verify", "--format", "mot", "--report", "verify.json", "a.csv", status=7)
        found = self.document("verify.json")
        figures = livereport.figures(found)
        self.assertEqual((7, 1, 1, 0, 2497), (found["status"], figures["changed"], figures["unrelated"], figures["missing"],
                                              figures["as expected"]))
        self.assertEqual(said["documents_in_collection"], figures["documents in all"])
        rows = livereport.rows(livereport.section(found, "Differences"))
        self.assertEqual([("changed", str(first), "k"), ("unrelated", '"mine"', None)],
                         [(row["kind"], row["_id"], row["field"] or None) for row in rows])
        self.said("verify", "--format", "mot", "--report", "differs.html", "a.csv", status=7)
        self.assertIn("Something differs: ", self.page("differs.html").sentence)

    # ---- pages in a browser

    @livetest.nightly
    def test_pages(self):
        """on a phone and a desk, light and dark, printed: nothing sticks out, is asked for, or complained of"""
        missing = chromium.missing(self.folder)
        if missing:
            raise unittest.SkipTest(missing)
        self.said("load", "--format", "mot", "--batch", "100", "--report", "load.html", "a.csv", status=2)
        self.said("load", "--format", "mot", "--report", "nothing.html", "a.csv", status=2)
        self.said("query", "--suite", "mot", "--repeats", "3", "--warmup", "0", "--clients", "1,2",
                  "--report", "query.html", "by-make", "by-year")
        self.said("tune", "--format", "mot", *TUNE, "--report", "tune.html", "a.csv", uri=livetune.slow(self))
        self.write("b.csv", livetest.rows(2000, 5))
        self.said("drill", "--format", "mot", "--sample", "500", "--report", "drill.html", "b.csv")
        self.client.insert(self.database, "results", [{"_id": "mine"}])
        self.said("verify", "--format", "mot", "--report", "verify.html", "a.csv", status=7)
        for name, found in odd_documents().items():
            livereport.render(found, self.folder / name)
        names = ["load.html", "nothing.html", "query.html", "tune.html", "drill.html", "verify.html", *odd_documents()]
        for name in names:
            self.page(name)
        livereport.look_at(self, self.folder, [self.folder / name for name in names])


# ------------------------------------------------------------------------------------------------ odd documents

def whole(*sections, **head):
    return {"tipple_report": 1, "command": "load", "version": "0.2.0", "when": "2026-01-31T12:00:00Z",
            "target": "mot.results", "where": "127.0.0.1:27017", "title": "tipple load", "status": 0,
            "sentence": "Loaded.", "settings": {"format": "mot", "again": "tipple load"}, "sections": list(sections),
            **head}


def odd_documents():
    """Of clusters and drills that no test has, and of names that nobody should give."""
    long = "a" * 200
    columns = [{"name": "shard", "unit": ""}, {"name": "documents", "unit": "documents"},
               {"name": "share", "unit": "%", "most": 100}, {"name": "busy", "unit": "%", "most": 100},
               {"name": "batches at once", "unit": "", "most": 0}, {"name": "most at once", "unit": ""},
               {"name": "waited for", "unit": "s"}]

    def bars(shards):
        return {"kind": "bars", "title": "By shard", "columns": columns, "rows": [
            [long if number == 1 else "shard%d" % number, 10**9 + number, 100 / shards, number * 90 / shards, 1.5, 4,
             7200.5]
            for number in range(shards)]}

    def lines(points):
        return {"kind": "lines", "title": "Documents a second", "x": {"name": "time", "unit": "s"},
                "y": {"name": "documents", "unit": "documents/s"}, "series": [{"name": long, "points": points}],
                "bands": [{"kind": "phase", "name": long, "from": 0, "to": 40}]}
    timeline = {"kind": "timeline", "title": "Phases", "items": [
        {"name": name, "began": began, "took": took, "predicted": predicted, "low": low, "high": high}
        for name, began, took, predicted, low, high in (
            ("loading", 0, 7000, 6500, 6000, 7400), (long, 7000, 4500, 5000, 4000, 6200),
            ("verify", 11500, 900, None, None, None), ("first query", None, None, 2, 1, 3))]}
    return {"shards.html": whole(bars(216), lines([[second, 4e5 + second] for second in range(40)])),
            "names.html": whole(bars(5), lines([[3, 10]]), timeline, target=long, sentence=long + " " + long,
                                status=130, settings={long: long, "again": "tipple load " + long}),
            "empty.html": {},
            "heads.html": whole(*({"kind": kind, "title": kind} for kind in sorted(livereport.KINDS)))}


livetest.main()
