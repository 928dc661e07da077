"""liveverify: runs of `tipple verify`, and someone who meddles with the documents in between.

    class Found(liveverify.Case):
        def test_one(self):
            self.write("a.csv", liveverify.readings(1000))
            self.load("a.csv")
            self.remove(57)
            self.finds([("missing", "a.csv", 57)], "a.csv")

A record is named by its line; where its document is to be found follows from the text and the books' extents, and
nothing is asked of tipple.
"""
import json
import struct

import livetest
import minimongo as mongo
from livetest import SOAK, ending

MAJORITY = {"w": "majority", "j": True}  # what verify reads
KINDS = ("missing", "extra", "duplicated", "changed", "unrelated")

# Small documents with a double in each, so that there can be many.
FORMAT = """format: readings
about: made-up readings, a double in each
record: {delimiter: [","], header: yes}
fields:
  - {name: n, type: int}
  - {name: k}
  - {name: v, type: number}
"""


def readings(count, first=0):
    return b"n,k,v\n" + b"".join(b"%d,g%d,%d.%d\n" % (n, n % 97, n % 4099 - 2000, n % 7 + 1)
                                 for n in range(first, first + count))


def flipped(value):
    """The double with the lowest bit of its mantissa the other way round."""
    return struct.unpack("<d", struct.pack("<Q", struct.unpack("<Q", struct.pack("<d", value))[0] ^ 1))[0]


class Case(livetest.Case):
    """A test of the format `readings`, or another one."""
    format = "readings.yaml"

    def setUp(self):
        super().setUp()
        self.write("readings.yaml", FORMAT)

    def verify_words(self, *words, collection="results"):
        return ["verify", *self.words(*words, collection=collection)[1:]]

    def verify(self, *words, status=0, collection="results", **more):
        """What `tipple verify --json` says; its counts and its exit status agree. None where it said nothing."""
        done = self.tipple(*self.verify_words(*words, collection=collection), status=None, **more)
        self.stderr = done.stderr
        allowed = status if isinstance(status, tuple) else (status,)
        self.assertIn(ending(done.returncode), allowed, "the exit status of tipple verify %s\n%s%s" % (
            " ".join(map(str, words)), done.stdout.decode(errors="replace")[-3000:], done.stderr[-2000:]))
        if not done.stdout:
            return None
        said = json.loads(done.stdout)
        self.assertEqual(ending(done.returncode), said["status"])
        if said["status"] in (0, 7):
            self.assertEqual(said["status"] == 7, any(said[kind] for kind in KINDS))
        for kind in KINDS:
            listed = [entry["documents"] for entry in said["differences"] if entry["kind"] == kind]
            self.assertLessEqual(sum(listed), said[kind])
            if "--max-differences" not in words:
                self.assertEqual(bool(said[kind]), bool(listed))
        return said

    def finds(self, expected, *words, **more):
        """Exactly these differences, each (kind, file, line[, last line]) or (kind, id); what verify said."""
        said = self.verify(*words, status=7 if expected else 0, **more)
        found = []
        for entry in said["differences"]:
            if entry["file"] is None:
                found.append((entry["kind"], entry["id"]))
                continue
            place = entry["kind"], entry["file"], entry.get("line")
            found.append(place if entry.get("line") == entry.get("last_line") else (*place, entry["last_line"]))
            if "line" in entry and entry["kind"] != "extra":
                self.assertEqual(entry["id"], self.id_at(entry["file"], entry["line"]))
        self.assertEqual(sorted(expected, key=str), sorted(found, key=str), said)
        return said

    # ------------------------------------------------------------------------------------------- where records are

    def offset_of(self, name, line):
        """Of the first byte of a line, from 1."""
        text, at = self.texts[name], 0
        for _ in range(line - 1):
            at = text.index(b"\n", at) + 1
        return at

    def id_of(self, name, offset, collection="results"):
        book, = [book for book in self.files(collection) if book["path"] == name]
        extent = max((extent for extent in book["extents"] if extent["start"] <= offset), key=lambda e: e["start"])
        return livetest.record_id_make(book["_id"], offset, extent["base"] - extent["start"])

    def id_at(self, name, line):
        return self.id_of(name, self.offset_of(name, line))

    def put(self, name, text, packed=None):
        """A file, whose text is remembered."""
        if not hasattr(self, "texts"):
            self.texts = {}
        self.texts[name] = text
        self.write(name, text if packed is None else packed)

    # --------------------------------------------------------------------------------------------------- meddling

    def document(self, number, client=None):
        found, = (client or self.client).find(self.database, "results", filter={"_id": mongo.Int64(number)})
        return found

    def insert(self, *documents, client=None):
        (client or self.client).insert(self.database, "results", documents, writeConcern=MAJORITY)

    def remove(self, *numbers, client=None):
        """Returns the documents, so that they can be put back."""
        gone = [self.document(number, client) for number in numbers]
        (client or self.client).command(self.database, {"delete": "results", "deletes": [
            {"q": {"_id": number}, "limit": 1} for number in numbers], "writeConcern": MAJORITY})
        return gone

    def remove_range(self, first, last):
        gone = self.documents(filter={"_id": {"$gte": mongo.Int64(first), "$lte": mongo.Int64(last)}})
        self.client.command(self.database, {"delete": "results", "deletes": [
            {"q": {"_id": {"$gte": mongo.Int64(first), "$lte": mongo.Int64(last)}}, "limit": 0}],
            "writeConcern": MAJORITY})
        return gone

    def set(self, number, client=None, **fields):
        reply = (client or self.client).command(self.database, {"update": "results", "updates": [
            {"q": {"_id": number if not isinstance(number, int) else mongo.Int64(number)}, "u": {"$set": fields}}],
            "writeConcern": MAJORITY})
        self.assertEqual(1, reply["nModified"])
