"""Inputs that are not what they were when their load began: what then is in the collection is reported, or refused.
needs: replset; nightly on: standalone; nightly: loads are killed at random moments"""
import gzip
import os
import re
import shlex

import live
import livetest
from livetest import rows
from minimongo import Int64


TWO_LAYOUTS = """format: two
record: {delimiter: ",", header: no}
fields: [{name: a, type: int}, {name: b}, {name: c}]
layouts: [[a, b], [a, b, c]]
"""


def blank(text, number):
    """A record is nothing but line ends, so that the others stay where they are."""
    lines = text.splitlines(keepends=True)
    lines[number] = b"\n" * len(lines[number])
    return b"".join(lines)


class Changed(livetest.Case):
    def verifies(self, *names, status=0):
        return self.tipple("verify", "-f", "mot", "--uri", self.uri(), *names, status=status).stdout

    def edit(self, name, text):
        """Another time, whatever the clock's grain is."""
        self.write(name, text)
        os.utime(self.folder / name, ns=(1, 10**18))

    def is_refused(self, name, status=5):
        self.load(name, status=status)
        self.assertRegex(self.stderr, "%s has changed" % name)
        self.assertIn("--reload-changed", self.stderr)

    def reloads(self, name, status=0):
        self.shorten_lease()
        self.load(name, "--reload-changed", status=status)
        self.verifies(name)

    def test_moved_to_the_place_of_another(self):
        """then it grows: it is known, --reload-changed leaves the other one's documents, and so does forget"""
        for words in ([], ["--reload-changed"]):
            with self.subTest(words=words):
                self.write("0/x.csv", rows(100, 0))
                self.write("1/x.csv", rows(100, 1))
                self.load("0/x.csv", "1/x.csv")
                (self.folder / "1/x.csv").rename(self.folder / "0/x.csv")
                self.assertEqual(0, self.load("0/x.csv", *words)["loaded"])
                self.write("0/x.csv", rows(103, 1))
                self.assertEqual(3, self.load("0/x.csv", *words)["loaded"])
                self.assertEqual(100 + 103, self.client.count(self.database, "results"))
                said = self.tipple("forget", "--delete", "--yes", "0/x.csv", "--uri", self.uri(), status=1).stderr
                self.assertRegex(said, "0/x.csv today .* 1/x.csv#1, .* 0/x.csv#0")
                self.client.drop_database(self.database)

    def test_renamed_when_interrupted(self):
        """the other one is not loaded to its end: that is reported, and by taking it out, as the page says, all is there once"""
        self.write("a.csv", rows(9000, 1))
        self.load("a.csv", "--limit", 6000)
        (self.folder / "a.csv").rename(self.folder / "b.csv")
        self.load("b.csv")
        self.assertIn("a.csv is not loaded", self.stderr)
        self.shorten_lease()
        self.tipple("forget", "--delete", "--yes", "a.csv#0", "--uri", self.uri())
        self.assertEqual(0, self.load("b.csv")["loaded"])
        self.assertEqual(9000, self.client.count(self.database, "results"))
        self.verifies("b.csv")

    def test_own_ids(self):
        """documents of which only some bring an _id: of the others a renamed file brings second ones, and that is reported; by --id it brings none"""
        self.format = None
        text = b"".join(b'{"_id": "x%d", "v": 1}\n{"v": 2}\n' % number for number in range(100))
        for words in [], ["--existing", "replace"]:
            self.write("a.json", text)
            self.load("a.json", *words)
            (self.folder / "a.json").rename(self.folder / "b.json")
            self.load("b.json")
            self.assertEqual(300, self.client.count(self.database, "results"))
            self.assertIn("there twice", self.stderr)
            self.client.drop_database(self.database)
        self.write("a.csv", b"k,v\n1,1\n2,2\n")
        self.load("a.csv", "--id", "k")
        (self.folder / "a.csv").rename(self.folder / "b.csv")
        self.load("b.csv")
        self.assertNotIn("twice", self.stderr)

    def test_ends_within_quotes(self):
        """a file that ends within quotes: each line is a record of its own window until more of it says that it is none"""
        self.write("two.yaml", TWO_LAYOUTS.encode())
        words = ("-f", "./two.yaml", "--uri", self.uri(), "--json")
        lines = b"7,seven\n" * 100000
        for more, status, count in ((b"8,\"eight\"\n", 2, 100001), (b"end\"\n", 5, 100000)):
            with self.subTest(more=more):
                self.client.drop_database(self.database)
                self.write("a.csv", b"1,\"open\n" + lines)
                self.tipple("load", *words, "a.csv", status=2)
                self.tipple("verify", *words, "a.csv")
                self.write("a.csv", b"1,\"open\n" + lines + more)
                self.tipple("load", *words, "a.csv", status=status)
                self.assertEqual(count, len(self.documents()))
                self.shorten_lease()
                self.tipple("load", *words, "--reload-changed", "a.csv", status=2 if status == 2 else 0)
                self.assertEqual(count if status == 2 else 1, len(self.documents()))
                self.tipple("verify", *words, "a.csv")

    def test_packed_middle(self):
        """a packed file whose middle was edited, with its size and its ends as they were"""
        text = rows(3000, 2, header=False)
        middles = [gzip.compress(middle, 0) for middle in (text, text.replace(b"|FIESTA|", b"|FIASTA|"))]
        ends = gzip.compress(rows(2000, 1), 0), gzip.compress(rows(2000, 3, header=False), 0)
        self.assertEqual(*map(len, middles))
        self.write("a.gz", ends[0] + middles[0] + ends[1])
        self.load("a.gz")
        self.edit("a.gz", ends[0] + middles[0] + ends[1])
        self.assertEqual(0, self.load("a.gz")["read"])  # nothing but its time
        self.write("a.gz", ends[0] + middles[1] + ends[1])
        self.is_refused("a.gz")
        self.reloads("a.gz")

    def test_record_blanked_out(self):
        """a record of a block that was begun is gone: its document does not stay without a word"""
        text = rows(9000)
        self.write("a.csv", text)
        self.load("a.csv", "--limit", 6000)
        self.edit("a.csv", blank(text, 5500))
        self.is_refused("a.csv")
        self.verifies("a.csv", status=7)
        self.reloads("a.csv")

    def test_record_swallowed(self):
        """a record has become so long that others, whole windows of them, are part of it now"""
        text = rows(9000)
        self.write("a.csv", text)
        self.load("a.csv", "--limit", 8000)
        lines = text.splitlines(keepends=True)
        self.edit("a.csv", b"".join(lines[:1500]) + b"".join(line[:-1] + b"x" for line in lines[1500:7990])
                  + b"".join(lines[7990:]))
        self.is_refused("a.csv")
        self.reloads("a.csv", status=2)  # it is no good record

    def test_document_at_a_reject(self):
        """a rejected record, and a document in its place that nobody knows: said with the reject"""
        text = rows(200, bad={150})
        self.write("a.csv", text)
        counts = self.load("a.csv", "--limit", 150)
        self.assertEqual(150, counts["read"])
        first = self.documents()[0]
        there = {**first, "_id": Int64(first["_id"] + sum(map(len, text.splitlines(keepends=True)[1:151])))}
        self.client.command(self.database, {"insert": "results", "documents": [there]})
        self.load("a.csv", status=2)
        self.assertRegex(self.stderr, "13 fields .* another document")
        self.assertIn(b"extra", self.verifies("a.csv", status=7))

    def test_streams_without_names(self):
        """a stream without a name that breaks off: what there is of it, and how it is removed"""
        self.load("-", "-b", 100, "--max-rejects", 0, stdin=rows(5000) + b"x\n" * 9, status=3)
        self.assertNotEqual([], self.documents())
        name = re.search("tipple forget (.*) --delete", self.stderr)[1]
        self.assertIn("--input-name", self.stderr)
        self.shorten_lease()
        self.tipple("forget", *shlex.split(name), "--delete", "--yes", "--uri", self.uri())
        self.assertEqual([], self.documents())

    def test_no_answers(self):
        """w=0: without answers nobody could say what was loaded"""
        self.write("a.csv", rows(10))
        uri = self.uri() + ("&" if "?" in self.uri() else "?") + "w=0"
        self.assertEqual(10, self.load("a.csv", "--uri", uri)["loaded"])
        self.refused("w=0 in the URI", "a.csv", "--uri", uri, "--unsafe")


class Fixed(livetest.Case):
    def test_a_header_is_no_record(self):
        """--retry: a fix that is a header line answers nothing"""
        self.write("a.csv", rows(10, bad={3, 5}))
        self.load("a.csv", status=2)
        rejects = self.folder / ("%s.results.rejects" % self.database)
        header, good = rows(10).splitlines()[0], rows(10).splitlines()[4]
        lines = rejects.read_bytes().split(b"\n")
        places = [i for i, line in enumerate(lines) if line and not line.startswith(b"#")]
        lines[places[0]], lines[places[1]] = header, good
        rejects.write_bytes(b"\n".join(lines))
        said = self.load("--retry", rejects.name, status=2)
        self.assertEqual((2, 1, 1), (said["read"], said["loaded"], said["rejected"]))
        self.assertIn("a header, a comment", self.stderr)


if __name__ == "__main__":
    assert live.TIPPLE
    livetest.main()
