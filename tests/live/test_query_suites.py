"""The built-in suites: every query answers what the files hold; expectations, parameters, tags, indexes.
needs: standalone; nightly on: replset"""
import json
import re

import livequery
import livetest
from livequery import answers_mot


class Answers(livequery.Suites):
    def test_mot(self):
        """mot: every query, with its own parameters and others"""
        self.check_mot()

    @livetest.nightly
    def test_isd(self):
        """isd: every query, with and without index; what is drawn"""
        self.check_isd()

    @livetest.nightly
    def test_isd_study(self):
        """isd: the scans of documents of format isd-study"""
        self.check_isd_study()

    def test_obd(self):
        """obd: one field in many ways, over so many documents"""
        self.check_obd()

    def test_obd_stored(self):
        """obd-stored: functions that somebody stored in the server"""
        self.check_obd_stored()

    def test_ycsb(self):
        """ycsb: finds and an aggregation on a skewed field; what is drawn"""
        self.check_ycsb()


class Ways(livequery.Case):
    ROWS = 600

    def fill_some(self):
        self.tipple("generate", "mot", "--rows", self.ROWS, "-q", "-o", self.folder / "a.txt")
        self.fill("mot", "a.txt", status=(0,))
        return answers_mot.read([self.folder / "a.txt"])

    def names(self, *words, **more):
        return [entry["name"] for entry in self.query("mot", *words, **more)["queries"]]

    def test_words(self):
        """names and tags choose; what is neither is refused with what is near"""
        self.fill_some()
        self.assertEqual(list(answers_mot.QUERIES), self.names())
        self.assertEqual(["by-make", "mileage-percentiles"], self.names("make"))
        self.assertEqual(["greenness", "by-age"], self.names("by-age", "study"))
        self.query("mot", "greeness", status=1)
        self.assertIn("mean 'greenness'", self.stderr)
        self.query("mot", "--param", "tops=1", status=1)
        self.assertIn("mean 'top'", self.stderr)

    def test_expected(self):
        """an expectation that holds; one that does not is status 7 and says what differs"""
        right = answers_mot.greenness(self.fill_some())

        def expecting(**what):
            return self.own_suite("mot", lambda text: text.replace(
                "    documents: all\n", "    documents: all\n    expect: %s\n" % json.dumps(what), 1))
        said = self.query(expecting(documents=len(right)), "greenness")
        self.assertIsNone(said["queries"][0]["difference"])
        digest = said["queries"][0]["digest"]
        self.query(expecting(documents=len(right), digest=digest), "greenness")
        for what, pattern in (({"documents": 1}, "%d documents where 1" % len(right)),
                              ({"digest": "0" * 32}, "the answer is %s" % digest)):
            said = self.query(expecting(**what), "greenness", status=7)
            self.assertRegex(said["queries"][0]["difference"], pattern)
            self.assertRegex(self.stderr, pattern)
        # what another round finds is not compared again, what another parameter finds is
        self.query(expecting(digest=digest), "greenness", "--param", "diesel=9", status=7)

    def test_text_index(self):
        """an index of texts, whose key a server keeps in its own way, is known again"""
        self.fill_some()
        for number, index in enumerate(("{key: {n: 1, b: text, a: text}}", "{key: {n: 1, a: text}, weights: {a: 3, b: 1}}",
                                        "{key: {$**: text}, name: all}")):
            (self.folder / "x.yaml").write_text("suite: x\nqueries:\n  - {name: q, find: {limit: 1}, setup: {indexes: [%s]}}\n" % index)
            words = ("query", "--suite", "./x.yaml", "--uri", self.uri(), "--repeats", 1)
            self.tipple(*words, status=1)
            said = self.tipple(*words, "--setup").stderr
            self.assertIn("making the index %s" % ("all on" if number == 2 else "n_1_"), said)
            self.assertNotIn("making", self.tipple(*words, "--setup").stderr)
            self.tipple(*words)
            self.client.command(self.database, {"dropIndexes": "results", "index": "*"})

    def test_index_options(self):
        """flags are no texts; the index of _id is unique; a name that no driver could list is refused, and `name` is the way out"""
        self.fill_some()
        long = "ä" * 64

        def ask(index, *words, **more):
            (self.folder / "x.yaml").write_text("suite: x\nqueries:\n  - {name: q, find: {limit: 1}, setup: {indexes: [%s]}}\n" % index)
            return self.tipple("query", "--suite", "./x.yaml", "--uri", self.uri(), "--repeats", 1, *words, **more).stderr
        self.assertNotIn("making", ask("{key: {_id: 1}, unique: true}", "--setup"))
        ask("{key: {n: 1}, sparse: yes, unique: no}", "--setup")
        self.assertIn("more than 127 bytes", ask("{key: {%s: 1}}" % long, "--setup", status=1))
        self.assertIn("the index short", ask("{key: {%s: 1}, name: short}" % long, "--setup"))
        listed = self.client.command(self.database, {"listIndexes": "results"})["cursor"]["firstBatch"]
        found = {index["name"]: index for index in listed}
        self.assertIs(True, found["n_1"]["sparse"])
        self.assertFalse(found["n_1"].get("unique"))
        self.assertEqual({long: 1}, found["short"]["key"])

    def test_control_characters(self):
        """what a suite says cannot command the terminal: names, labels, titles and parameters are escaped"""
        self.fill_some()
        (self.folder / "x.yaml").write_text(
            'suite: x\nabout: "e\\e[31mvil\\x07"\nparams: {p: "a\\e[2Jb"}\nqueries:\n'
            '  - {name: q, about: "z\\e[31m\\x9bq", tags: ["t\\eg"], each: {u: ["\\e[5m", "ok\\x9b"]},\n'
            '     find: {filter: {n: {$param: u}}, limit: 1}}\n'
            'tables: [{title: "T\\e[31m", rows: u, columns: query, show: mean_ms, published: {"\\e[5m": {q: "\\e[1m"}}}]\n')
        for words in ([], ["--json"], ["--explain"]):
            done = self.tipple("query", "--suite", "./x.yaml", "--uri", self.uri(), "--repeats", 1, *words)
            for said in (done.stdout.decode(), done.stderr):
                self.assertEqual([], re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", said), words)
            self.assertIn("x1b[", done.stdout.decode(), words)


if __name__ == "__main__":
    livetest.main()
