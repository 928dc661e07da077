#!/usr/bin/env python3
"""Compares `tipple parse --format isd` with the independent reader, document by document, and the records written
again with the input, byte by byte: on published files, on odd records made by hand, on every
section filled in every way, and on mutants of all of these. Rejects must be the same lines.

TIPPLE names the program. ISD_MUTANTS (600, or 100,000 with TIPPLE_NIGHTLY=1), of which one in ISD_EVERY (3) is compared
as a document; ISD_SEED (0)."""
import gzip
import itertools
import json
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import isd_odd  # noqa: E402
import isd_reader  # noqa: E402
from reading import lines_of, to_json  # noqa: E402
from running import NIGHTLY, REJECTED, ROOT, tipple  # noqa: E402

SEED = os.environ.get("ISD_SEED", "0")
MUTANTS = int(os.environ.get("ISD_MUTANTS", "100000" if NIGHTLY else "600"))
EVERY = int(os.environ.get("ISD_EVERY", "3"))
FILES = sorted((ROOT / "tests/data/isd").glob("*.gz"))
COMPARED = FILES if NIGHTLY else [path for path in FILES if path.stat().st_size < 50000]


def canonical(document):
    return to_json(isd_reader.ejson(document))


def numbers_alike(pairs):
    """For json.loads: the order of keys stays, and doubles are compared by value, -0.0 apart from 0.0."""
    if pairs and pairs[0][0] == "$numberDouble":
        return [("$numberDouble", repr(float(pairs[0][1])))]
    return pairs


def parsed(line):
    return json.loads(line, object_pairs_hook=numbers_alike)


def difference(ours, line, names=("reader", "tipple")):
    """What differs between two documents: all of the values that do, or the order of the keys."""
    ours, theirs = parsed(ours), parsed(line)
    lines = []
    for name, pairs, others in ((names[0], ours, theirs), (names[1], theirs, ours)):
        shown = [pair for pair in pairs if pair not in others] or [key for key, _ in pairs]
        lines.append("%s: %s" % (name, shown))
    return "\n".join(lines)


class Comparison(unittest.TestCase):
    longMessage = True
    maxDiff = None

    def compare_documents(self, records, stdout, name):
        got = stdout.decode("utf-8").split("\n")
        self.assertEqual(got.pop(), "", "%s: the last document's line has no end" % name)
        expected = [record for record in records if record.kind == "document"]
        for record, line in zip(expected, got):
            ours = canonical(record.document)
            if ours != line and parsed(ours) != parsed(line):
                self.fail("%s:%d: %r\n%s" % (name, record.line.number, record.line.text, difference(ours, line)))
        self.assertEqual(len(expected), len(got), name)

    def compare_rejects(self, data, status, stderr, name):
        lines = [line for line in lines_of(data) if line.text]
        expected = {(line.number, line.offset) for line in lines if is_rejected(line)}
        got = [(int(m[2]), int(m[4])) for m in REJECTED.finditer(stderr)]
        self.assertEqual(sorted(expected), got, name)
        self.assertEqual(2 if expected else 0, status, "%s: %s" % (name, stderr[:2000]))

    def compare_raw(self, data, name, path):
        """All bytes come back, but those of rejected lines."""
        kept = [line for line in lines_of(data) if not line.text or not is_rejected(line)]
        status, stdout, stderr = tipple("parse", "-f", "isd", "--emit", "raw", path)
        self.compare_rejects(data, status, stderr, name)
        start = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        if stdout == data[:start] + b"".join(line.text + line.end for line in kept):
            return
        for line, written in itertools.zip_longest(kept, lines_of(stdout)):
            if line is None or written is None or (line.text, line.end) != (written.text, written.end):
                self.fail("%s:%s\n%r came back as\n%r" % (name, line and line.number, line, written))
        self.fail("%s: other bytes came back" % name)

    def compare(self, data, name, path=None, documents=True):
        with tempfile.NamedTemporaryFile() as file:
            if path is None:
                file.write(data)
                file.flush()
                path = file.name
            self.compare_raw(data, name, path)
            if documents:
                status, stdout, stderr = tipple("parse", "-f", "isd", path)
                self.compare_rejects(data, status, stderr, name)
                self.compare_documents(isd_reader.records(data), stdout, name)


def is_rejected(line):
    return isd_reader.why_rejected(line.text, last_unended=not line.end.endswith(b"\n")) is not None


class Published(Comparison):
    def test_files(self):
        self.assertGreaterEqual(len(FILES), 11)
        for path in COMPARED:
            with self.subTest(path.name):
                self.compare(gzip.decompress(path.read_bytes()), path.name, path)

    def test_nothing_is_odd_there(self):
        """What the walk does with faulty records must not happen to good ones."""
        for path in COMPARED:
            with self.subTest(path.name):
                for record in isd_reader.records(gzip.decompress(path.read_bytes())):
                    self.assertEqual("document", record.kind)
                    self.assertFalse({"unparsed", "order", "declaredLength", "date"} & set(record.document))
                    self.assertIn("ts", record.document)


class Odd(Comparison):
    def test_reader(self):
        """It makes of an ordinary record what is written here by hand, and of no other one."""
        for odd in isd_odd.RECORDS:
            record, = isd_reader.records(odd.line + b"\n")
            alike = parsed(canonical(record.document)) == parsed(canonical(isd_odd.DOCUMENT))
            self.assertEqual(odd.line == isd_odd.BASE, alike, odd.name)

    def test_odd_records(self):
        self.assertGreater(len(isd_odd.RECORDS), 200)
        self.compare(b"".join(odd.line + b"\n" for odd in isd_odd.RECORDS), "odd records")

    def test_odd_files(self):
        base, long = isd_odd.BASE, isd_odd.tail(b"REMSYN005AB CD")
        files = {
            "nothing": b"",
            "CRLF": base + b"\r\n" + long + b"\r\n",
            "CRLF and LF": base + b"\r\n" + long + b"\n" + base + b"\r\n",
            "blank lines": b"\n\n" + base + b"\n\n" + long + b"\n\r\n\n",
            "only blank lines": b"\n\r\n\n",
            "blanks are no blank line": b" \n" + base + b"\n",
            "the last line has no end": base + b"\n" + long,
            "the only line has no end": long,
            "the last line has no end and is cut": base + b"\n" + long[:-1],
            "the last line has no end and is cut in the fixed part": base + b"\n" + base[:-1],
            "the last line has no end and is longer than announced": base + b"\n" + long + b"!",
            "the last line has no end, and no count": base + b"\n    " + long[4:-1],
            "the last line has an end and is cut": base + b"\n" + long[:-1] + b"\n",
            "the last line ends with a carriage return": base + b"\n" + long + b"\r",
            "the last line is cut and ends with a carriage return": base + b"\n" + long[:-1] + b"\r",
            "the last line is only a carriage return": base + b"\n\r",
            "105 and 104 characters": base + b"\n" + base[:104] + b"\n" + base + b"\n",
            "104 characters and a carriage return": base[:104] + b"\r\n" + base + b"\n",
            "two carriage returns": base + b"\r\r\n",
            "rejects": b"x\n" + base + b"\nx\nx\n" + base[:50] + b"\n" + long + b"\nx",
            "a byte-order mark": b"\xef\xbb\xbf" + base + b"\n" + long + b"\n",
            "NUL bytes": b"\0\n" + base + b"\n" + b"\0" * 200 + b"\n",
            "bytes of no text": b"\xff" * 105 + b"\n" + b"\xff" * 300 + b"\n",
            # much longer than a count can say; each place explains itself nearly to the end
            "a long line with a gap": base + b"REM" + isd_odd.SYN + b";" + b"SYN000" * 30000 + b";\n" + base + b"\n",
            "a long line of sections": base + b"ADD" + isd_odd.AG1 * 30000 + b";" + isd_odd.AA1 * 9 + b"\n" + base + b"\n",
        }
        for name, data in files.items():
            with self.subTest(name):
                self.compare(data, name)


class Sections(Comparison):
    """Every identifier with every field filled in many ways: nothing may be named, cut or scaled otherwise."""

    FILLINGS = [
        ("fillers", lambda field, width: field.filler or b"9" * width),
        ("nines", lambda field, width: b"9" * width),
        ("plus nines", lambda field, width: b"+" + b"9" * (width - 1)),
        ("minus nines", lambda field, width: b"-" + b"9" * (width - 1)),
        ("zeros", lambda field, width: b"0" * width),
        ("plus zeros", lambda field, width: b"+" + b"0" * (width - 1)),
        ("minus zeros", lambda field, width: b"-" + b"0" * (width - 1)),
        ("blanks", lambda field, width: b" " * width),
        ("a letter and blanks", lambda field, width: b"A".ljust(width)),
        ("a blank and letters", lambda field, width: b" BCDEFGH"[:width]),
        ("not UTF-8", lambda field, width: b"\xff".ljust(width)),
    ]

    def records(self):
        digits = itertools.cycle(b"1234567890128645973")  # no field is like the one next to it
        for letters in sorted({section.ids[0][:2] for section in isd_reader.SECTIONS} | {"AB", "XX", "BA"}):
            for number in range(10):
                identifier = b"%s%d" % (letters.encode(), number)
                section = isd_reader.SECTION_OF.get(identifier)
                if section is None:
                    yield isd_odd.tail(b"ADD" + isd_odd.AA1 + identifier + b"1" * 20 + isd_odd.AG1)
                    continue
                for sign in (b"", b"+", b"-"):
                    yield self.record(identifier, section, lambda field, width: sign[:width - 1] + bytes(
                        itertools.islice(digits, width - len(sign[:width - 1]))))
                if identifier.decode() in (section.ids[0], section.ids[-1]):
                    for _, filling in self.FILLINGS:
                        yield self.record(identifier, section, filling)
        for section in isd_reader.SECTIONS:  # and each field as the only one that is there, or the only one that is not
            for only in section.fields:
                for chosen in (True, False):
                    yield self.record(section.ids[0].encode(), section, lambda field, width: (
                        b"1" * width if (field is only) == chosen else field.filler or b"9" * width))

    @staticmethod
    def record(identifier, section, filling):
        fields = b"".join(filling(field, field.end - field.start) for field in section.fields)
        return isd_odd.tail(b"ADD" + identifier + fields + b"REM" + isd_odd.SYN)

    def test_all(self):
        lines = list(self.records())
        self.assertGreater(len(lines), 3000)
        self.compare(b"".join(line + b"\n" for line in lines), "sections")


class Mutants(Comparison):
    COMMON = b"0123456789" * 3 + b"9999+-  ABCEDGKMNQRSTY/="
    PIECES = [b"ADD", b"REM", b"EQD", b"QNN", b"SYN005", b"MET000", b"AWY099", b"Q01", b"N01", b"E11 1", b"+9999", b"-0000",
              b"2400", b"99999", b"999999", b" ", b"\xc3\xa9", b"\r"] + [
                  section.ids[0].encode() for section in isd_reader.SECTIONS] + [b"AA0", b"AW5", b"KB4", b"OC2", b"UG3", b"CN5"]

    def change(self, rng, line, others):
        """The line, changed in one way. A place is near one end as often as anywhere."""
        def place():
            return rng.choice((rng.randrange(len(line) + 1), rng.randrange(min(len(line), 110) + 1),
                               rng.randrange(105, 130) if len(line) > 130 else rng.randrange(len(line) + 1)))

        def piece():
            start = place()
            return start, min(len(line), start + rng.choice((1, 1, 2, 3, 5, 11, 16, rng.randrange(1, 60))))

        start, end = piece()
        way = rng.randrange(11)
        if way <= 1:
            return line[:start] + bytes([rng.choice(self.COMMON)]) + line[start + 1:]
        if way == 2:
            return line[:start] + bytes([rng.choice([byte for byte in range(256) if byte != 10])]) + line[start + 1:]
        if way == 3:
            return line[:start] + line[end:]
        if way == 4:
            return line[:start] + rng.choice(self.PIECES) + line[start:]
        if way == 5:
            chosen = rng.choice(self.PIECES)
            return line[:start] + chosen + line[start + len(chosen):]
        if way == 6:
            return line[:start]
        if way == 7:
            return line[:end] + line[start:]
        if way == 8:
            (start, middle), (_, end) = (start, end), piece()
            end = max(middle, end)
            return line[:start] + line[middle:end] + line[start:middle] + line[end:]
        if way == 9:
            return self.rearrange(rng, line)
        other = rng.choice(others)
        return line[:start] + other[min(len(other), rng.choice((start, rng.randrange(len(other) + 1)))):]

    @staticmethod
    def rearrange(rng, line):
        """Whole sections, remarks and so on in another order, repeated or left out."""
        entries, _ = isd_reader.walk(line)
        parts = [[line[start:end] for part, start, end in entries if part == which] for which in range(4)]
        chosen = rng.choice([part for part in parts if part] or [[b""]])
        entry = rng.choice(chosen)
        way = rng.randrange(4)
        if way == 0:
            rng.shuffle(chosen)
        elif way == 1:
            chosen.insert(rng.randrange(len(chosen) + 1), entry)
        elif way == 2:
            chosen.remove(entry)
        else:
            rng.choice(parts).append(entry)
        return line[:105] + b"".join(
            marker + b"".join(part) for (marker, _), part in zip(isd_reader.PARTS, parts) if part or way == 2)

    def mutants(self, rng, count):
        lines = [odd.line for odd in isd_odd.RECORDS if len(odd.line) < 2000]
        for path in FILES:
            published = gzip.decompress(path.read_bytes()).split(b"\n")[:-1]
            lines += rng.sample(published, min(len(published), 500))
        for _ in range(count):
            line = rng.choice(lines)
            for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
                line = self.change(rng, line, lines)
            yield line

    def test_mutants(self):
        print("ISD_SEED=%s" % SEED)
        lines = list(self.mutants(random.Random(SEED), MUTANTS))
        self.compare(b"".join(line + b"\n" for line in lines), "mutants of ISD_SEED=%s" % SEED, documents=False)
        for start in range(0, len(lines), 10000):  # the last line is without its end: it may be cut short
            part = b"\n".join(lines[start:start + 10000 // EVERY])
            self.compare(part, "mutants from %d of ISD_SEED=%s" % (start, SEED))


if __name__ == "__main__":
    unittest.main()
