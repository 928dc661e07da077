"""A collection is compared with its files: what is clean is called clean, and each difference is found and named.
needs: standalone; nightly on: replset"""
import gzip
import hashlib
import io
import json
import os
import random
import tarfile
import zipfile

import livetest
import liveverify
import minimongo as mongo
from livetest import WINDOW, rows
from liveverify import flipped, readings
from minimongo import Int64

BIG = 5_000_000 if liveverify.SOAK else 500_000 if livetest.NIGHTLY else 40_000


def tar_of(**members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return out.getvalue()


class Clean(liveverify.Case):

    def test_inputs(self):
        """plain, gzip, zstd, zip, tar, tar.gz, a folder of small files, no text at all: as expected, in each way"""
        parts = [readings(3000, 100_000 * part) for part in range(9)]
        self.write("a.csv", parts[0])
        self.write("b.csv.gz", gzip.compress(parts[1]))
        self.write("c.csv.zst", livetest.zstd_frame(parts[2]))
        self.write("d.zip", livetest.zip_of(("x.csv", parts[3], zipfile.ZIP_DEFLATED),
                                            ("y.csv", parts[4], zipfile.ZIP_STORED)))
        self.write("e.tar", tar_of(x=parts[5], y=parts[6]))
        self.write("f.tar.gz", gzip.compress(tar_of(x=parts[7], y=parts[8])))
        for number in range(40):
            self.write("g/%02d.csv" % number, readings(20, 1_000_000 + 100 * number))
        self.write("h.csv", b"n,k,v\n")
        self.write("i.csv", b"\xef\xbb\xbf" + readings(10, 2_000_000).replace(b"\n", b"\r\n"))
        names = ["a.csv", "b.csv.gz", "c.csv.zst", "d.zip", "e.tar", "f.tar.gz", "g", "h.csv", "i.csv"]
        loaded = self.load(*names)
        self.assertEqual(9 * 3000 + 800 + 10, loaded["loaded"])
        for words in ((), ("-j", 1), ("-j", 16, "--memory", "16M"), ("--max-differences", 0)):
            said = self.finds([], *words, *names)
            self.assertEqual((loaded["loaded"],) * 4, tuple(said[field] for field in (
                "documents", "as_expected", "expected", "documents_in_collection")))
            self.assertEqual((51, 51, 0), tuple(said[field] for field in (
                "files", "files_in_catalog", "documents_of_other_files")))
        said = self.finds([], "--sample", "40%", *names)
        self.assertTrue(0 < said["blocks_looked_at"] < said["blocks"], said)
        self.assertIsNone(said["documents_in_collection"])
        for name in names[1:3]:
            said = self.finds([], name)
            self.assertEqual((3000, loaded["loaded"] - 3000), (said["documents"], said["documents_of_other_files"]))

    def test_stream(self):
        """what came from stdin under a name is verified from stdin again; without one it cannot be known again"""
        text = rows(3000)
        self.format = "mot"
        self.load("-", "--input-name", "pipe", stdin=text)
        said = self.finds([], "-", "--input-name", "pipe", stdin=text)
        self.assertEqual(3000, said["as_expected"])
        self.verify("-", stdin=text, status=1)
        self.assertRegex(self.stderr, "not in the catalog .*--input-name")


class Found(liveverify.Case):
    """In a collection of half a million documents (5 million with TIPPLE_SOAK=1) differences are found."""

    def fill(self):
        self.put("a.csv", readings(BIG))
        self.put("b.csv", readings(1000, 10**8))
        self.load("a.csv", "b.csv")
        self.draw = random.Random(BIG)
        self.names = ("a.csv", "b.csv")

    def lines(self, count):
        return sorted(self.draw.sample(range(3, BIG), count))

    def test_all_together(self):
        """all kinds at once, and whole stretches that are missing"""
        self.fill()
        one, two, three, four, five = self.lines(5)
        expected = [("missing", "a.csv", 2), ("missing", "a.csv", BIG + 1), ("missing", "a.csv", one),
                    ("changed", "a.csv", two), ("extra", "a.csv", three), ("unrelated", '"mine"'),
                    ("changed", "b.csv", 10), ("missing", "b.csv", 100, 199)]
        for line in 2, BIG + 1, one:  # also the first and the last record
            self.remove(self.id_at("a.csv", line))
        self.set(self.id_at("a.csv", two), k="other", w=1)
        self.insert({"_id": Int64(self.id_at("a.csv", three) + 2)}, {"_id": "mine"})
        self.set(self.id_at("b.csv", 10), n=Int64(10**8 + 8))  # the same number, of another type
        self.remove_range(self.id_at("b.csv", 100), self.id_at("b.csv", 199))
        said = self.finds(expected, *self.names)
        self.assertEqual((103, 1, 0, 2, 1), tuple(said[kind] for kind in liveverify.KINDS[:5]))
        self.assertEqual(1, [entry for entry in said["differences"] if entry.get("field") == "k"][0]["more_fields"])
        # the rest of a block, and more: neighbours are reported as one, across blocks
        step = self.id_at("a.csv", four) - self.id_of("a.csv", self.offset_of("a.csv", four) // WINDOW * WINDOW)
        first = self.id_at("a.csv", four) - step
        self.remove_range(first, first + WINDOW - 1)
        said = self.verify(*self.names, status=7)
        whole, = [entry for entry in said["differences"] if entry["kind"] == "missing" and entry["documents"] > 1000]
        at = self.offset_of("a.csv", four) // WINDOW * WINDOW
        text = self.texts["a.csv"]
        begins = text.count(b"\n", 0, at) + (1 if not at or text[at - 1:at] == b"\n" else 2)
        self.assertEqual(begins, whole["line"])
        self.assertEqual(self.texts["a.csv"].count(b"\n", 0, at + WINDOW - 1) + 1, whole["last_line"])
        self.assertEqual(said["missing"], 103 + whole["documents"])

    def test_names(self):
        """a field whose name is empty is named; what a difference has not is null"""
        self.write("a.json", '{"":1}\n{"":2,"a":3}\n{"a":4}\n{"a":5,"b":6}\n')
        self.tipple("load", "--uri", self.uri(), "a.json")
        one, two, three, four = self.documents()
        for new in {**one, "": 7}, {"_id": two["_id"], "a": 3}, {**three, "b": 8}, {"_id": four["_id"], "b": 6, "a": 5}:
            self.client.command(self.database, {"update": "results", "updates": [{"q": {"_id": new["_id"]}, "u": new}]})
        done = self.tipple("verify", "--uri", self.uri(), "a.json", status=7)
        said = [line.split("): ")[1] for line in done.stdout.decode().splitlines() if line.startswith("changed")]
        number = '{ "$numberInt" : "%d" }'
        for part, line in zip((number % 7, '"" is not there', "b is " + number % 8, "another order"), said):
            self.assertIn(part, line)
        done = self.tipple("verify", "--uri", self.uri(), "a.json", "--json", status=7)
        self.assertEqual([["", number % 7, number % 1], ["", None, number % 2], ["b", number % 8, None], [None] * 3],
                         [[entry[key] for key in ("field", "stored", "expected")]
                          for entry in json.loads(done.stdout)["differences"]])


class Hashed(liveverify.Case):
    def test_against_the_server(self):
        """the server's dbHash against the MD5 of the encoder's bytes in _id order says what verify says"""
        parts = {"a.csv": readings(20_000), "b.csv": readings(7000, 10**6), "c.csv": readings(1, 10**7)}
        for name, text in parts.items():
            self.put(name, text)
        self.load(*parts)
        encoded = self.tipple("parse", "--format", "./readings.yaml", "--emit", "bson", "--ids", *parts).stdout
        documents, at = {}, 0
        while at < len(encoded):
            length = int.from_bytes(encoded[at:at + 4], "little")
            documents[mongo.decode(encoded[at:at + length])["_id"]] = encoded[at:at + length]
            at += length
        self.assertEqual(27_001, len(documents))
        expected = hashlib.md5(b"".join(documents[number] for number in sorted(documents))).hexdigest()
        self.assertEqual(expected, self.hash())
        self.finds([], *parts)
        number = self.id_at("b.csv", 5000)
        value = self.document(number)["v"]
        for meddle, undo in ((lambda: self.set(number, v=flipped(value)), lambda: self.set(number, v=value)),
                             (lambda: gone.extend(self.remove(number)), lambda: self.insert(*gone)),
                             (lambda: self.insert({"_id": "x"}), lambda: self.client.command(self.database, {
                                 "delete": "results", "deletes": [{"q": {"_id": "x"}, "limit": 1}]}))):
            gone = []
            meddle()
            self.assertNotEqual(expected, self.hash())
            self.verify(*parts, status=7)
            undo()
            self.assertEqual(expected, self.hash())
            self.finds([], *parts)


class Known(liveverify.Case):
    """What the books say: filters, formats, files."""
    format = "mot"

    def test_earlier_version(self):
        """a file is what it was before it grew: that is said, and of each document of the rest why it counts as extra"""
        self.format = "mot"
        first, whole = rows(500, 1), rows(500, 1) + rows(5000, 2, header=False)
        self.put("a.csv", first)
        then = os.stat(self.folder / "a.csv")
        self.load("a.csv")
        self.put("a.csv", whole)
        self.load("a.csv")
        warning = "a.csv is an earlier version"
        self.put("a.csv", first)
        os.utime(self.folder / "a.csv", ns=(then.st_atime_ns, then.st_mtime_ns))
        self.assertEqual(0, self.load("a.csv")["read"])
        said = self.verify("a.csv", "--max-differences", 10000, status=7)
        self.assertEqual((500, 5000), (said["as_expected"], said["extra"]))
        self.assertTrue(all("earlier version" in entry["why"] for entry in said["differences"]))
        self.assertEqual({None}, {entry["line"] for entry in said["differences"]})
        self.assertIn(warning, self.stderr)
        self.put("a.csv", whole)
        self.finds([], "a.csv")
        self.assertNotIn("earlier version", self.stderr)
        self.insert({"_id": Int64(self.id_of("a.csv", len(whole) + 5))})  # in the window of the last record
        entry, = self.finds([("extra", "a.csv", None)], "a.csv")["differences"]
        self.assertEqual("the file ends before", entry["why"])


if __name__ == "__main__":
    livetest.main()
