#!/usr/bin/env python3
"""Tables of many kinds of columns, as Python's csv module writes them, read without a format: each value comes out as it was
meant, or as the text that it was; or tipple asks. TIPPLE names the program."""
import csv
import datetime
import decimal
import io
import json
import pathlib
import random
import tempfile
import unittest

from running import NIGHTLY, tipple

TABLES = 400 if NIGHTLY else 150
MOST_ASKED = 0.3  # of them
WORDS = "the quick brown fox jumps over lazy dog Berlin Paris Oslo Müller café naïve Straße rue de la Paix O'Neil".split()
NOTHING = {"", "na", "null", "n/a", "-"}
TRUE, FALSE = {"y", "true", "yes"}, {"n", "false", "no"}
EPOCH = datetime.datetime(1970, 1, 1)


def words(draw):
    return " ".join(draw.choice(WORDS) for _ in range(draw.randint(1, 5)))


def moment(draw):
    return EPOCH + datetime.timedelta(seconds=draw.randint(0, 60 * 365 * 86400))


def day(pattern):
    def one(draw):
        at = datetime.datetime.combine(moment(draw), datetime.time())
        return at.strftime(pattern), at
    return one


def stamp(pattern):
    def one(draw):
        at = moment(draw)
        return at.strftime(pattern), at
    return one


def number(text_of, comma=False):
    def one(draw):
        text = text_of(draw)
        return text.replace(".", ",") if comma else text, decimal.Decimal(text)
    return one


def thousands(signs):
    def one(draw):
        value = decimal.Decimal(draw.randint(0, 10 ** 9)) / 100
        return f"{value:,.2f}".translate(str.maketrans(",.", signs)), value
    return one


def text(text_of):
    return lambda draw: (text_of(draw), None)


def digits(form):
    """'#' is a digit."""
    return text(lambda draw: "".join(str(draw.randint(0, 9)) if sign == "#" else sign for sign in form))


def one_of(*texts):
    return text(lambda draw: draw.choice(texts))


KINDS = {
    "whole": number(lambda draw: str(draw.randint(-100, 100000))), "digit": number(lambda draw: str(draw.randint(0, 9))),
    "large": number(lambda draw: str(draw.randint(2 ** 53, 2 ** 62))), "cents": number(lambda draw: "%.2f" % draw.uniform(-1000, 1000)),
    "double": number(lambda draw: repr(draw.uniform(-90, 90))), "power": number(lambda draw: "%.3e" % draw.uniform(-1e9, 1e9)),
    "mixed": number(lambda draw: draw.choice(["%d", "%.1f"]) % draw.uniform(0, 99)), "thousands": thousands(",."),
    "ean": number(lambda draw: str(draw.randint(10 ** 12, 10 ** 13 - 1))), "year": number(lambda draw: str(draw.randint(1900, 2025))),
    "iso": day("%Y-%m-%d"), "german": day("%d.%m.%Y"), "stamp": stamp("%Y-%m-%d %H:%M:%S"), "zulu": stamp("%Y-%m-%dT%H:%M:%SZ"),
    "words": text(words), "comma": text(lambda draw: words(draw) + draw.choice([", ", "; ", " - "]) + words(draw)),
    "quotes": one_of('5" pipe', 'say "hi" now', '"all"', 'a ""b""', "it's", "'tis", "plain"),
    "lines": text(lambda draw: words(draw) + draw.choice(["", "\n", "\n\n"]) + words(draw)),
    "markup": text(lambda draw: '<p class="x">%s; %s, &amp;</p>' % (words(draw), words(draw))),
    "object": text(lambda draw: json.dumps({"a": draw.randint(1, 9), "b": words(draw), "c": [1, 2]}, ensure_ascii=False)),
    "zip": digits("0####"), "phone": digits("+49 30 #####"), "line": digits("0##########"), "iban": digits("DE####################"),
    "card": digits("####-####-####-####"), "long": digits("1####################"), "version": digits("#.#.#"), "code": digits("#e#"),
    "address": digits("10.#.#.1#"), "time": digits("1#:2#"), "seconds": digits("1#:2#:3#"), "percent": digits("#%"), "price": digits("$#.##"),
    "share": digits("#/2#"), "range": digits("#-2#"), "quarter": digits("202#Q1"), "month": digits("202#-1#"), "plus": digits("+#"),
    "list": digits("#|#|#"), "three": digits("#,#,#"), "place": digits("1#.##, -2.##"), "link": digits("https://x.org/?a=#&b=#,#;c"),
    "letter": one_of("Y", "N"), "truth": one_of("true", "false"), "land": one_of("NO", "DE", "NA", "SE"), "nothing": one_of("", "NA", "NULL", "-"),
    "zeros": one_of("007", "010", "100"), "point": number(lambda draw: draw.choice([".5", "0.5", "5."])), "word": text(lambda draw: draw.choice(WORDS)),
}
WITH_COMMAS = {"german cents": number(lambda draw: "%.2f" % draw.uniform(-1000, 1000), comma=True), "german thousands": thousands(".,")}


class Table:
    def __init__(self, seed):
        draw = random.Random(seed)
        delimiter = draw.choice(",,,;;\t|")
        kinds = KINDS if delimiter == "," else {**KINDS, **WITH_COMMAS}
        self.kinds = [draw.choice(sorted(kinds)) for _ in range(draw.randint(1, 9))]
        self.header = draw.random() < 0.8
        empty = draw.choice([0, 0, 0.1, 0.5])
        self.rows = [[("", None) if draw.random() < empty else kinds[kind](draw) for kind in self.kinds]
                     for _ in range(draw.choice([1, 2, 3, 5, 20, 200]))]
        self.names = ["%s%d" % (kind.replace(" ", "_"), i) if self.header else "column_%d" % (i + 1) for i, kind in enumerate(self.kinds)]
        written = io.StringIO()
        writer = csv.writer(written, delimiter=delimiter, lineterminator=draw.choice(["\n", "\r\n"]),
                            quoting=draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
        if self.header:
            writer.writerow(self.names)
        writer.writerows([cell for cell, _ in row] for row in self.rows)
        self.bytes = written.getvalue().encode(draw.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"]))


def meant(cell, value):
    """Is this what a cell without a meaning of its own says?"""
    try:
        return decimal.Decimal(cell) == value
    except decimal.InvalidOperation:
        return False


def is_right(cell, wanted, found):
    plain = cell.strip()
    if found is None:
        return plain.lower() in NOTHING
    if isinstance(found, str):
        return found in (cell, plain)
    if isinstance(found, bool):
        return plain.lower() in (TRUE if found else FALSE)
    kind, value = next(iter(found.items())) if isinstance(found, dict) and len(found) == 1 else (None, found)
    if kind == "$date":
        milliseconds = int(value["$numberLong"]) if isinstance(value, dict) else \
            (datetime.datetime.fromisoformat(value.replace("Z", "")) - EPOCH) // datetime.timedelta(milliseconds=1)
        return wanted == EPOCH + datetime.timedelta(milliseconds=milliseconds)
    if kind in ("$numberDecimal", "$numberLong", None) and not isinstance(value, (dict, list)):
        value = decimal.Decimal(value) if isinstance(value, str) else decimal.Decimal(repr(value))
        if isinstance(wanted, decimal.Decimal):
            return value == wanted or float(value) == float(wanted)
        # without zeros in front or at the end, a plus or an e: nothing of it is lost
        return plain == str(value) and meant(plain, value)
    return isinstance(found, dict) and cell.startswith("{") and found == json.loads(cell)


class Tables(unittest.TestCase):
    def look_at(self, seed, path):
        table = Table(seed)
        path.write_bytes(table.bytes)
        status, out, said = tipple("parse", "--relaxed", path)
        if status == 5:
            self.assertRegex(said, r"--with (header|dates|decimal|delimiter|quote|encoding)=|sed |give --format", "seed %d" % seed)
            return True
        self.assertEqual(0, status, "seed %d: %s" % (seed, said))
        documents = [json.loads(line) for line in out.decode().splitlines()]
        self.assertEqual(len(table.rows), len(documents), "seed %d, %s: %s" % (seed, table.kinds, said))
        for row, document in zip(table.rows, documents):
            self.assertLessEqual(set(document), set(table.names), "seed %d" % seed)
            for name, (cell, wanted) in zip(table.names, row):
                self.assertTrue(is_right(cell, wanted, document.get(name)),
                                "seed %d, %s: %r became %r" % (seed, name, cell, document.get(name)))
        return False

    def test_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            asked = sum(self.look_at(seed, pathlib.Path(folder) / "table.csv") for seed in range(TABLES))
        self.assertLess(asked, MOST_ASKED * TABLES)


if __name__ == "__main__":
    unittest.main(verbosity=2)
