#!/usr/bin/env python3
"""Generated documents of `tipple generate ycsb` against what docs/generate.md promises of them: every _id once, texts of
their length and random, numbers in the shares of their Zipf distribution, and `tipple parse` makes of a line what Python
makes of it.

TIPPLE names the program."""
import collections
import itertools
import json
import string
import unittest

from reading import to_json, whole
from running import NIGHTLY, generated, tipple

TEXTS, NUMBERS, VALUES, EXPONENT = 8, 8, 1000000, 0.99
KEYS = ["_id", *("field%d" % i for i in range(TEXTS)), *("fieldInt%d" % i for i in range(NUMBERS))]
LETTERS = string.ascii_letters + string.digits + "-_"


def made(*arguments):
    return generated("ycsb", *arguments)


def rows_of(data):
    """The values of each document, in the order of KEYS, which is that of the documents."""
    rows = []
    for line in data.decode("ascii").splitlines():
        document = json.loads(line)
        if list(document) != KEYS:
            raise AssertionError(line[:200])
        rows.append(list(document.values()))
    return rows


def shares():
    weights = [(k + 1) ** -EXPONENT for k in range(VALUES)]
    total = sum(weights)
    return [weight / total for weight in weights]


def document(row):
    pairs = {"_id": {"$numberLong": str(row[0])}}
    pairs.update(zip(KEYS[1:1 + TEXTS], row[1:]))
    pairs.update((name, whole(value)) for name, value in zip(KEYS[1 + TEXTS:], row[1 + TEXTS:]))
    return to_json(pairs)


class Ycsb(unittest.TestCase):
    def near(self, count, draws, share, what):
        """As many as chance allows: five standard deviations, and one for small numbers."""
        self.assertLessEqual(abs(count - draws * share), 5 * (draws * share * (1 - share)) ** 0.5 + 1,
                             "%s: %d of %d, wanted %g" % (what, count, draws, share))

    def test_ids(self):
        """ids 0 to N-1, each once and in order; the default is documents of a kilobyte"""
        rows = rows_of(made("--rows", "3k", "--seed", "4"))
        self.assertEqual(list(range(3000)), [row[0] for row in rows])
        self.assertEqual({100}, {len(text) for row in rows for text in row[1:1 + TEXTS]})

    def test_texts(self):
        """texts have their length; 64 letters are equally frequent at each place; none is there twice"""
        for length in (1, 2, 9, 10, 11, 1000):
            row, = rows_of(made("--rows", "1", "--text-bytes", str(length)))
            self.assertEqual([length] * TEXTS, [len(text) for text in row[1:1 + TEXTS]])
        texts = [text for row in rows_of(made("--rows", "5k", "--seed", "3", "--text-bytes", "24"))
                 for text in row[1:1 + TEXTS]]
        self.assertEqual(len(texts), len(set(texts)))
        for place in range(24):
            counts = collections.Counter(text[place] for text in texts)
            self.assertLessEqual(set(counts), set(LETTERS))
            for letter in LETTERS:
                self.near(counts[letter], len(texts), 1 / 64, "%s at place %d" % (letter, place))
        neighbours = collections.Counter((text[0], text[1]) for text in texts)
        self.near(sum(neighbours[letter, letter] for letter in LETTERS), len(texts), 1 / 64, "twins")

    def test_shares(self):
        """frequent numbers one by one, rare ones by ranges; columns and rows do not depend on each other"""
        rows = rows_of(made("--rows", "120k" if NIGHTLY else "40k", "--seed", "5", "--text-bytes", "1"))
        wanted, all_counts = shares(), collections.Counter()
        columns = [[row[1 + TEXTS + i] for row in rows] for i in range(NUMBERS)]
        for name, column in zip(KEYS[1 + TEXTS:], columns):
            counts = collections.Counter(column)
            all_counts.update(counts)
            for value in range(30):
                self.near(counts[value], len(rows), wanted[value], "%d in %s" % (value, name))
        self.assertTrue(0 <= min(all_counts) and max(all_counts) < VALUES)
        draws = NUMBERS * len(rows)
        for value in range(200):
            self.near(all_counts[value], draws, wanted[value], value)
        edges = [0, 2, 9, 30, 99, 315, 999, 4095, 4096, 4111, 4112, 10000, 31622, 100000, 316227, 990000, 999900, VALUES]
        for low, high in zip(edges, edges[1:]):
            self.near(sum(all_counts[value] for value in range(low, high)), draws, sum(wanted[low:high]),
                      "%d to %d" % (low, high - 1))
        # of values so frequent that each is expected ten times at least
        often = [k for k, share in enumerate(wanted) if draws * share >= 10]
        chi2 = sum((all_counts[k] - draws * wanted[k]) ** 2 / (draws * wanted[k]) for k in often)
        self.assertLess(abs(chi2 - len(often)), 6 * (2 * len(often)) ** 0.5)
        for one, other in itertools.combinations(columns, 2):
            both = sum(a == 0 and b == 0 for a, b in zip(one, other))
            self.near(both, len(rows), wanted[0] ** 2, "0 twice in a document")
        after = sum(a == 0 and b == 0 for a, b in zip(columns[0], columns[0][1:]))
        self.near(after, len(rows) - 1, wanted[0] ** 2, "0 in two documents, one after the other")

    def test_documents(self):
        """each line's document, its _id a number of 64 bits"""
        data = made("--rows", "2k", "--first", "99999000", "--seed", "6", "--text-bytes", "40")
        status, out, err = tipple("parse", "--format", "ycsb", "-", data=data)
        self.assertEqual(0, status, err)
        for row, line in zip(rows_of(data), out.decode().splitlines()):
            self.assertEqual(document(row), line)
        self.assertEqual(2000, out.count(b"\n"))

    def test_size(self):
        """documents have about a kilobyte, those of the study 147,439 bytes; and any size in steps of eight"""
        for words, size in (((), 1042), (("--text-bytes", "470"), 4002), (("--study",), 147439)):
            data = made("--rows", "60", *words)
            self.assertEqual(60 * size, len(tipple("parse", "--format", "ycsb", "--emit", "bson", "-", data=data)[1]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
