"""BSON as mongodump writes it: loads that end, are killed, meet a file that was cut off or whose lengths lie, and rejects. The
files are made here by minimongo, and what is in the collection is compared with them.  needs: standalone"""
import random
import struct

import livetest
import minimongo


def made(count, seed=1):
    """Documents of many types, some of them long; without _id."""
    draw = random.Random(seed)
    return [{"k": i, "name": "n%d \n é" % draw.randrange(10**6), "v": draw.random() * 100 - 50,
             "tags": ["a", {"x": [i % 7, [], {}]}], "when": minimongo.Date(draw.randrange(2**40)),
             "ok": i % 2 == 0, "none": None, "big": minimongo.Int64(draw.randrange(2**62)),
             "note": "x" * (draw.randrange(200) if draw.randrange(500) else draw.randrange(400000)),
             "oid": minimongo.ObjectId(draw.randbytes(12)), "blob": minimongo.Binary(draw.randbytes(i % 9))}
            for i in range(count)]


def written(documents):
    return [minimongo.encode(each) for each in documents]


def element(kind, key, value):
    return bytes([kind]) + key + b"\0" + value


def number(key, value):
    return element(0x10, key, struct.pack("<i", value))


def old(key, *length):
    """Binary data of subtype 2, which has two lengths."""
    return element(5, key, struct.pack("<iBi", 10, 2, *(length or (6,))) + b"legacy")


def document(*elements):
    whole = b"".join(elements)
    return struct.pack("<i", len(whole) + 5) + whole + b"\0"


class Bson(livetest.Case):
    format = "bson"

    def put(self, name, data):
        (self.folder / name).write_bytes(data)

    def holds(self, texts, *words):
        """These and no others, byte for byte after the _id; and the loader's own proof says the same."""
        found = []
        for raw in self.client.find(self.database, "results", raw=True):
            self.assertEqual(b"\x12_id\0", raw[4:9])
            found.append(struct.pack("<i", len(raw) - 13) + raw[17:])
        self.assertEqual(sorted(texts), sorted(found))
        said = self.verified(*words)
        self.assertEqual(len(texts), said["documents"])

    def test_pieces(self):
        """several threads share one large file; the place of a reject is its document's number"""
        texts = written({"k": i, "note": "y" * 4000} for i in range(20000))
        broken = bytearray(texts[17777])
        broken[4] = 0x66
        texts[17777] = bytes(broken)
        self.put("a.bson", b"".join(texts))
        said = self.load("-j", "4", "a.bson", status=2)
        self.assertEqual((len(texts) - 1, 1), (said["loaded"], said["rejected"]))
        self.assertRegex(self.stderr, r"a\.bson:17778:5 ")

    def test_own_ids(self):
        """documents keep their own _id of any type, which a server puts first"""
        ids = [5, "five", minimongo.ObjectId(b"123456789012"), {"a": [1, {"_id": 2}]}, minimongo.Date(7), 1.5, True]
        texts = [minimongo.encode(dict(list({"k": i, "s": "x"}.items())[:at] + [("_id", each)] +
                                       list({"k": i, "s": "x"}.items())[at:]))
                 for i, each in enumerate(ids) for at in (i % 3,)]
        stored = [minimongo.encode({"_id": each, "k": i, "s": "x"}) for i, each in enumerate(ids)]
        self.put("a.bson", b"".join(texts))
        self.assertEqual(len(ids), self.load("a.bson")["loaded"])
        self.assertEqual(sorted(stored), sorted(map(bytes, self.client.find(self.database, "results", raw=True))))
        said = self.verified("a.bson")
        self.assertEqual(len(ids), said["as_expected"])

    def stored(self):
        return sorted(map(bytes, self.client.find(self.database, "results", raw=True)))

    @livetest.nightly
    def test_odd_own_ids(self):
        """code with zero bytes, a Timestamp(0, 0), and what follows old binary data: taken, proven and known again"""
        code = [element(0x0D, b"_id", struct.pack("<i", 5) + b"a\0b%d\0" % i) for i in range(3)]
        scoped = [element(0x0F, b"_id", struct.pack("<ii", 18, 5) + b"a\0b%d\0" % i + document()) for i in range(3)]
        plain = [number(b"_id", i) for i in range(3)]
        zero = element(0x11, b"_id", bytes(8))
        texts = [document(each, old(b"b"), number(b"k", i)) for i, each in enumerate(code + scoped + [zero])]
        moved = [document(old(b"b"), each, number(b"k", i)) for i, each in enumerate(plain)]
        found = texts + [document(each, old(b"b"), number(b"k", i)) for i, each in enumerate(plain)]
        self.put("a.bson", b"".join(texts + moved))
        self.assertEqual(10, self.load("a.bson")["loaded"])
        self.assertEqual(sorted(found), self.stored())
        self.assertEqual(10, self.verified("a.bson")["as_expected"])
        self.put("b.bson", b"".join(texts + moved))
        with open(self.folder / "b.bson", "ab") as more:
            more.write(document(number(b"_id", 9)))
        said = self.load("b.bson")
        self.assertEqual((1, 10), (said["loaded"], said["already_there"]))
        other = [document(each, number(b"k", 77)) for each in code[:1] + scoped[:1] + [zero]]
        self.put("c.bson", b"".join(other))
        self.assertEqual(3, self.load("c.bson", status=2)["rejected"])
        self.assertEqual(sorted(found + [document(number(b"_id", 9))]), self.stored())

    def test_every_id_is_replaced(self):
        """--existing replace: the document takes the place of the other one, of whatever type their _id is"""
        text = struct.pack("<i", 2) + b"x\0"
        ids = [element(*each) for each in (
            (0x01, b"_id", bytes(8)), (0x02, b"_id", text), (0x03, b"_id", document(number(b"a", 1))),
            (0x05, b"_id", struct.pack("<iB", 1, 0) + b"x"), (0x07, b"_id", bytes(12)), (0x08, b"_id", b"\1"),
            (0x09, b"_id", bytes(8)), (0x0A, b"_id", b""), (0x0C, b"_id", text + bytes(12)), (0x0D, b"_id", text),
            (0x0E, b"_id", struct.pack("<i", 2) + b"y\0"), (0x0F, b"_id", struct.pack("<i", 15) + text + document()), (0x10, b"_id", struct.pack("<i", 7)),
            (0x11, b"_id", bytes(8)), (0x12, b"_id", struct.pack("<q", 8)), (0x13, b"_id", b"\1" + bytes(15)),
            (0x7F, b"_id", b""), (0xFF, b"_id", b""))]
        for name, value in (("a.bson", 1), ("b.bson", 2)):
            self.put(name, b"".join(document(each, number(b"v", value)) for each in ids))
            self.load(name, "--existing", "replace")
        self.assertEqual(sorted(document(each, number(b"v", 2)) for each in ids), self.stored())

    def test_odd_ids_of_fields(self):
        """--id takes a field after old binary data, and code as it is; a document with another _id, or whose second length is wrong, is a reject"""
        code = element(0x0D, b"k", struct.pack("<i", 4) + b"a\0b\0")
        texts = [document(old(b"b"), number(b"k", 1)), document(old(b"b"), code),
                 document(old(b"b"), number(b"_id", 3), number(b"k", 3)), document(old(b"k", 7))]
        self.put("a.bson", b"".join(texts))
        said = self.load("--id", "k", "a.bson", status=2)
        self.assertEqual((2, 2), (said["loaded"], said["rejected"]))
        self.assertEqual(sorted([document(number(b"_id", 1), texts[0][4:-1]),
                                 document(element(0x0D, b"_id", code[3:]), texts[1][4:-1])]), self.stored())

    def test_rejects(self):
        """what is broken is a reject, and nothing else; a text that is not UTF-8 is stored as it is"""
        texts = written(made(40))
        broken, utf = bytearray(texts[7]), bytearray(texts[20])
        broken[4] = 0x55
        utf[utf.index("é".encode()) + 1] = ord("(")
        texts[7], texts[20] = bytes(broken), bytes(utf)
        keep = [each for i, each in enumerate(texts) if i != 7]
        self.put("a.bson", b"".join(texts))
        said = self.load("a.bson", status=2)
        self.assertEqual((39, 1), (said["loaded"], said["rejected"]))
        self.assertRegex(self.stderr, r"a\.bson:8:5 ")
        kept = (self.folder / (self.database + ".results.rejects")).read_bytes()
        self.assertIn(texts[7] + b"\n", kept)
        self.holds(keep, "a.bson")
        self.put("fixed", kept.replace(texts[7], bytes([*texts[7][:4], 0x10, *texts[7][5:]])))
        said = self.load("--retry", "fixed")
        self.assertEqual(1, said["loaded"])
        self.assertEqual(40, self.client.count(self.database, "results"))


if __name__ == "__main__":
    livetest.main()
