"""The built-in suites: every query answers what the files hold; parameters, tags, indexes.
needs: standalone; nightly on: replset"""
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
        """obd: one field in many ways, over that many documents"""
        self.check_obd()

    def test_obd_stored(self):
        """obd-stored: functions that someone stored in the server"""
        self.check_obd_stored()

    def test_ycsb(self):
        """ycsb: finds and an aggregation on a skewed field; what is drawn"""
        self.check_ycsb()


class Ways(livequery.Case):
    ROWS = 600

    def fill_some(self):
        self.tipple("generate", "mot", "--rows", self.ROWS, "-q", "-o", self.folder / "a.txt")
        self.fill("mot", "a.txt", status=(0,))

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
