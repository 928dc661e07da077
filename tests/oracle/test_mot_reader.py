#!/usr/bin/env python3
"""Compares `tipple parse` with the independent reader of MOT files, document by document: on the public samples, on
odd files made by hand, and on generated files of every release. Rejects must be the same lines; the records written
again must make the same documents, and rows that were written the usual way must come back byte for byte.

TIPPLE names the program. MOT_ROWS (800, or 15,000 with TIPPLE_NIGHTLY=1): rows of each generated file."""
import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mot_reader  # noqa: E402
from reading import lines_of, to_json  # noqa: E402
from running import NIGHTLY, REJECTED, ROOT, tipple  # noqa: E402

DATA = ROOT / "tests/data/mot"
ROWS = int(os.environ.get("MOT_ROWS", "15000" if NIGHTLY else "800"))
RELEASES = ["2013", "2016", "2017-first", "2017", "2020", "2021", "2023", "2024"]


def format_of(path):
    return "mot-item" if "item" in path.name else "mot"


class Comparison(unittest.TestCase):
    longMessage = True
    maxDiff = None

    def compare_documents(self, path, format_name, reader, stdout):
        got = stdout.decode("utf-8").split("\n")
        self.assertEqual(got.pop(), "", "the last document's line has no end")
        expected = [record for record in reader.records() if record.kind == "document"]
        for record, line in zip(expected, got):
            if to_json(dict(record.document)) == line:
                continue
            where = "%s:%d as %s: %r" % (path.name, record.line.number, format_name, record.line.text)
            document = json.loads(line, object_pairs_hook=list)
            ours = json.loads(to_json(dict(record.document)), object_pairs_hook=list)
            self.assertEqual(ours, document, where)
        self.assertEqual(len(expected), len(got), path.name)
        return len(got)

    def compare_rejects(self, path, reader, status, stderr):
        expected = [(record.line.number, record.line.offset) for record in reader.records() if record.kind == "reject"]
        got = []
        for number, column, offset in ((int(m[2]), int(m[3]), int(m[4])) for m in REJECTED.finditer(stderr)):
            got.append((number, offset))
            text = next(line.text for line in reader.lines if line.number == number)
            self.assertTrue(1 <= column <= len(text) + 1, "%s:%d:%d" % (path.name, number, column))
        self.assertEqual(expected, got, path.name)
        self.assertEqual(2 if expected else 0, status, "%s: %s" % (path.name, stderr))

    def compare_emitted(self, path, format_name, reader, first):
        """The records again, with headers and blank lines in their places; rejects are left out."""
        status, emitted, stderr = tipple("parse", "-f", format_name, "--emit", "raw", path)
        self.assertIn(status, (0, 2), "%s: %s" % (path.name, stderr))
        again = tempfile.NamedTemporaryFile(delete=False)
        with again:
            again.write(emitted)
        status, second, stderr = tipple("parse", "-f", format_name, again.name)
        self.assertEqual((0, first), (status, second), "%s written again: %s" % (path.name, stderr[:2000]))
        written = [line.text for line in lines_of(emitted)]
        kept = [record for record in reader.records() if record.kind != "reject"]
        self.assertEqual(len(kept), len(written), path.name)
        usual = 0
        for record, text in zip(kept, written):
            same = record.kind != "document" or reader.usual(record.line.text)
            usual += same
            if same:
                self.assertEqual(record.line.text, text, "%s:%d" % (path.name, record.line.number))
        os.unlink(again.name)
        return usual, emitted

    def compare(self, path, format_name=None):
        format_name = format_name or format_of(path)
        reader = mot_reader.Reader(format_name, path.read_bytes())
        status, stdout, stderr = tipple("parse", "-f", format_name, path)
        self.compare_rejects(path, reader, status, stderr)
        documents = self.compare_documents(path, format_name, reader, stdout)
        usual, emitted = self.compare_emitted(path, format_name, reader, stdout)
        return documents, usual, emitted


class Samples(Comparison):
    def test_public_files(self):
        paths = sorted(DATA.glob("test_*"))
        self.assertEqual(4, len(paths))
        for path in paths:
            with self.subTest(path.name):
                data = path.read_bytes()
                documents, _, emitted = self.compare(path)
                self.assertEqual(data, emitted, "published rows come back byte for byte")
                self.assertEqual(len(data.splitlines()) - 1, documents)

    def test_long_keys(self):
        for path in sorted(DATA.glob("test_result*")) + sorted((DATA / "odd").glob("20*")):
            with self.subTest(path.name):
                self.compare(path, "mot-long")


class Odd(Comparison):
    def test_odd_files(self):
        paths = sorted((DATA / "odd").iterdir())
        self.assertGreater(len(paths), 30)
        for path in paths:
            with self.subTest(path.name):
                self.compare(path)

    def test_all_in_one_go(self):
        """Every file keeps its own delimiter and columns, whatever was read before it."""
        paths = [path for path in sorted((DATA / "odd").iterdir()) if format_of(path) == "mot"]
        alone = b"".join(tipple("parse", "-f", "mot", path)[1] for path in paths)
        self.assertEqual(alone, tipple("parse", "-f", "mot", *paths)[1])


class Generated(Comparison):
    def test_every_release(self):
        with tempfile.TemporaryDirectory() as folder:
            for seed, release in enumerate(RELEASES):
                with self.subTest(release):
                    path = pathlib.Path(folder) / ("result_%s.txt" % release)
                    status, _, stderr = tipple("generate", "mot", "--rows", ROWS, "--seed", seed + 1, "--release", release, "-o", path)
                    self.assertEqual(0, status, stderr)
                    documents, usual, emitted = self.compare(path)
                    self.assertEqual(ROWS, documents)
                    if release == "2021":  # all of its text stands in quotes
                        self.assertLess(len(emitted), path.stat().st_size)
                    else:
                        self.assertGreater(usual, 0.99 * ROWS)
                    path.unlink()


if __name__ == "__main__":
    unittest.main()
