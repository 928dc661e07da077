"""Records that cannot be loaded: kept with their place and bytes, counted, limited, fixed and loaded after all.
needs: standalone; nightly on: replset"""
import gzip
import os
import subprocess

import live
import livetest
from livetest import Books, rows


class Kept(livetest.Case):
    def test_entries(self):
        """a reject says file, offset, line, column and reason, and keeps the raw bytes"""
        bad = [b"one field", b"|||", b"#@deadbeef offset=1 line=1 length=3 field=- file=a.csv -- x", b"nul\0byte|cr\rin it",
               b"latin \xcb", b"# marked #@", b" " * 70000, b"\\", b'"open|quote']
        lines = rows(200, header=False).split(b"\n")[:-1]
        for number, record in enumerate(bad):
            lines.insert(7 + number * 20, record)
        text = b"\n".join(lines) + b"\ncut|off"
        self.write("a.csv", text)
        counts = self.load("a.csv", status=2)
        self.assertEqual((210, 200, 0, 10), tuple(counts[part] for part in livetest.PARTS[:4]))
        books = Books().plain("a.csv", text)
        self.holds(books)
        self.assertEqual(books.rejected(), [(*entry[:3], entry[4]) for entry in sorted(self.entries(), key=lambda e: e[1])])
        offset = text.index(b"one field")
        self.assertIn("rejected a.csv:8:10 (offset %d): it has 1 field" % offset, self.stderr)
        kept = (self.folder / (self.database + ".results.rejects")).read_text("latin-1")
        self.assertRegex(kept, r"(?m)^#@[0-9a-f]{8} offset=%d line=8 length=9 hash=[0-9a-f]{16} dialect=[0-9a-f]{16} field=- .* file=a.csv -- a.csv:8:10: it has 1"
                         % offset)

    def test_path(self):
        """--rejects names the file; odd names of inputs come through; no rejects, no file"""
        for name in ("a b%.csv", "ü\tx.csv", "=file=.csv"):
            self.write(name, rows(30, bad={3}))
        self.write("good.csv", rows(20, 2))
        self.load("good.csv", "--rejects", "none")
        self.assertFalse((self.folder / "none").exists())
        self.load("a b%.csv", "ü\tx.csv", "=file=.csv", "--rejects", "in.rejects", status=2)
        self.assertEqual(3, len(self.entries("in.rejects")))
        fixed = (self.folder / "in.rejects").read_bytes()
        line = rows(30, bad={3}).split(b"\n")[4]
        self.write("fixed", fixed.replace(line + b"\n", line + b"|2001-01-01\n"))
        self.assertEqual(3, self.load("--retry", "fixed")["loaded"])
        self.assertEqual(20 + 90, self.client.count(self.database, "results"))

    def test_copies(self):
        """--copies: each copy's reject is counted and kept, and is fixed by itself"""
        text = rows(100, bad={7})
        self.write("a.csv", text)
        said = self.load("a.csv", "--copies", 2, status=2)
        self.assertEqual((200, 198, 2), (said["read"], said["loaded"], said["rejected"]))
        self.assertEqual(2, len(self.entries()))
        kept = (self.folder / (self.database + ".results.rejects")).read_bytes()
        bad, good = text.splitlines()[8], rows(100).splitlines()[8]
        self.write("fixed", kept.replace(bad, good))
        self.assertEqual(2, self.load("--retry", "fixed")["loaded"])
        self.assertEqual(200, self.client.count(self.database, "results"))
        self.assertEqual(0, self.load("a.csv", "--copies", 2)["read"])
        self.verified("a.csv", "--copies", "2", "--retry", "fixed")


class Limited(livetest.Case):
    def test_share_of_a_resume(self):
        """a load that goes on is judged by all records of the input, also those of earlier runs; what an input has grown by
        since it was loaded to its end, by itself"""
        before = self.begun(80)
        said = self.load("a.csv", "-j", 1, "--max-rejects", "1.5%", status=2)  # 80 of the last 1500, and of 8000
        self.assertLess(said["read"] * 0.015, said["rejected"])
        self.assertEqual(8000, before - 1 + said["read"])
        self.begun(80, "b.csv")
        self.load("b.csv", "--max-rejects", "0.9%", status=3)
        text = rows(8000)
        self.write("c.csv", text)
        self.load("c.csv")
        self.write("c.csv", text + b"bad\n" * 80)
        self.load("c.csv", "--max-rejects", "1.5%", status=3)

    def begun(self, count, name="a.csv"):
        """A load that stopped at the first of `count` records that are rejects, where all before are done; what was read."""
        lines, offset, first = rows(8000).split(b"\n"), 0, 0
        while offset < 2 * livetest.WINDOW:
            offset, first = offset + len(lines[first]) + 1, first + 1
        self.write(name, rows(8000, bad=set(range(first - 1, first - 1 + count))))
        return self.load(name, "-j", 1, "-b", 1, "--max-rejects", 0, status=3)["read"]


class Fixed(livetest.Case):
    def test_last_left_out(self):
        """the last record of the file is left out, and then the next load adds one: no kill is made up, and it stays left out"""
        good = "".join("%d,1\n" % number for number in range(60))
        self.format = None
        self.write("x.csv", "a,b\n" + good + "30\n")
        self.write("y.csv", "a,b\n" + good + "40\n")
        self.load("x.csv", "--rejects", "r", collection="other", status=2)
        self.write("r", (self.folder / "r").read_bytes().replace(b"\n30\n", b"\n"))
        self.load("y.csv", "--rejects", "r", collection="other", status=2)
        self.assertNotIn(b" torn ", (self.folder / "r").read_bytes())
        self.write("r", (self.folder / "r").read_bytes().replace(b"\n40\n", b"\n40,1\n"))
        said = self.load("--retry", "r", collection="other")
        self.assertEqual((1, 0), (said["loaded"], said["open_rejects"]))
        self.assertEqual(0, self.load("x.csv", "y.csv", "--rejects", "r", collection="other")["read"])


class ByWidth(livetest.Case):
    def test_fixed(self):
        """records by width that were cut short are kept, fixed, and then the documents that they would have been"""
        with gzip.open(os.path.join(os.environ["TIPPLE_ROOT"], "tests/data/isd/010060-99999-2014.gz")) as file:
            whole = file.read().split(b"\n")[:200]
        odd = whole[150][:46] + b"-0000" + whole[150][51:]
        text = b"\r\n".join(whole[:50] + [whole[50][:104]] + whole[51:150] + [odd] + whole[151:199] + [whole[199][:120]])
        self.write("a.txt", text)
        counts = self.load("a.txt", "--format", "isd", status=2)
        self.assertEqual((200, 198, 0, 2), tuple(counts[part] for part in livetest.PARTS[:4]))
        self.assertEqual(1, counts["values_kept_as_text"])
        self.assertEqual([("a.txt", text.index(b"\r\n" + whole[50][:104] + b"\r\n") + 2, 51, "-", whole[50][:104]),
                          ("a.txt", text.rindex(b"\n") + 1, 200, "-", whole[199][:120])], self.entries())
        kept = (self.folder / (self.database + ".results.rejects")).read_bytes()
        for record in (whole[50], whole[199]):
            kept = kept.replace(b"\n" + record[:104] + b"\n", b"\n" + record + b"\n")
            kept = kept.replace(b"\n" + record[:120] + b"\n", b"\n" + record + b"\n")
        self.write("fixed", kept)
        self.assertEqual(2, self.load("--format", "isd", "--retry", "fixed")["loaded"])
        self.write("whole.txt", b"\r\n".join(whole[:150] + [odd] + whole[151:]) + b"\r\n")
        self.load("whole.txt", "--format", "isd", collection="expected")
        stored = [self.bodies(collection) for collection in ("results", "expected")]
        self.assertEqual(200, len(stored[0]))
        self.assertEqual(*stored)
        self.assertEqual(0, self.load("a.txt", "--format", "isd", status=(0, 2))["read"])

    def bodies(self, collection):
        found = self.client.find(self.database, collection, sort={"_id": 1})
        return [{key: value for key, value in document.items() if key != "_id"} for document in found]


class Shared(livetest.Case):
    """What is in a reject file stays in it, and nothing else gets between."""

    def setUp(self):
        super().setUp()
        self.default = self.database + ".results.rejects"
        self.texts = {name: rows(900, seed, bad=set(range(200, 800))) for seed, name in ((1, "a.csv"), (2, "b.csv"))}
        for name, text in self.texts.items():
            self.write(name, text)

    def kept(self):
        """All reject files, by name."""
        return {path.name: path.read_bytes() for path in sorted(self.folder.glob("*.rejects*"))}

    def all_entries(self):
        return sorted(entry for name in self.kept() for entry in self.entries(name))

    def expected(self, *names):
        return sorted((name, offset, line, "-", record) for name in names
                      for offset, line, record in livetest.File(0, [(0, 0)], "", name, self.texts[name]).rejected)

    def test_second_load(self):
        """the file is one load's; a second one that runs meanwhile takes the next name, says so, and mixes nothing"""
        kept = self.folder / self.default
        # into a collection of its own, because loads into one may wait for each other
        words = self.words("a.csv", "-", "--max-rejects", 100000, "--rejects", self.default, collection="first")
        first = subprocess.Popen(self.command(*words), cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.addCleanup(first.wait)
        self.addCleanup(first.kill)
        self.assertTrue(livetest.wait_for(lambda: kept.exists() and kept.read_bytes().count(b"file=a.csv ") > 100))
        said = self.load("b.csv", "--max-rejects", 100000, status=2)
        stderr = self.stderr
        first.communicate(b"", timeout=live.LONG)
        self.assertEqual(2, first.returncode)
        self.assertEqual(self.expected("a.csv", "b.csv"), self.all_entries())
        self.assertEqual(self.default + ".2", said["rejects"])
        self.assertIn("kept in %s.2" % self.default, stderr)
        self.assertEqual(self.expected("a.csv"), sorted(self.entries()))
        self.assertEqual(self.expected("b.csv"), sorted(self.entries(self.default + ".2")))
        before = self.kept()
        for name, collection in zip(before, ("first", "results")):
            said = self.load("--retry", name, "--max-rejects", 100000, "--rejects", name, collection=collection, status=2)
            self.assertEqual(600, said["rejected"])
        self.assertEqual(before, self.kept())

    def test_in_a_folder(self):
        """a reject file is no input: left out of folders with a note, refused by name; nothing is touched"""
        for path in self.folder.glob("*"):
            path.unlink()
        self.write("a.csv", rows(100, bad={5}))
        self.load(".", status=2)
        self.assertTrue((self.folder / self.default).exists())
        before, kept = self.everything(), self.kept()
        for _ in range(2):
            self.assertEqual(0, self.load(".", status=2)["read"])
            self.assertEqual(1, self.stderr.count("skipped %s: a reject file" % self.default))
        self.write("in/" + self.default, kept[self.default])
        self.load("in", collection="other", status=5)
        self.assertIn("no file to read", self.stderr)
        for words in ((self.default,), ("a.csv", self.default), ("*.rejects",)):
            self.refused("a reject file .*--retry", *words)
        self.assertEqual((before["results"], kept), (self.everything()["results"], self.kept()))
        self.tipple("verify", "--format", "mot", "--uri", self.uri("results"), ".")


if __name__ == "__main__":
    assert live.TIPPLE and os.environ
    livetest.main()
