#!/usr/bin/env python3
"""Compares `tipple parse -f isd-stations` with Python's csv module, row by row, on real rows of the published list: every
kind of filler, names with backslashes and quotes, both poles, both sides of the date line, ids with and without a
number. The rows written again must make the same documents.

TIPPLE names the program."""
import csv
import datetime
import json
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(os.environ.get("TIPPLE_ROOT") or pathlib.Path(__file__).resolve().parents[2])
TIPPLE = os.environ.get("TIPPLE") or str(ROOT / "build/release/tipple")
STATIONS = ROOT / "tests/data/isd/isd-history.csv"
EPOCH = datetime.datetime(1970, 1, 1)
NUMBER = re.compile(r"[+-]\d+\.\d+")


def text(value):
    return value


def number(value):
    assert NUMBER.fullmatch(value), value
    return {"$numberDouble": float(value)}


def day(value):
    ms = (datetime.datetime.strptime(value, "%Y%m%d") - EPOCH) // datetime.timedelta(milliseconds=1)
    return {"$date": {"$numberLong": str(ms)}}


# column: key, meaning, fillers
COLUMNS = {
    "USAF": ("usaf", text, {"", "999999"}),
    "WBAN": ("wban", text, {"", "99999"}),
    "STATION NAME": ("name", text, {""}),
    "CTRY": ("country", text, {""}),
    "STATE": ("state", text, {""}),
    "ICAO": ("icao", text, {""}),
    "LAT": ("latitude", number, {""}),
    "LON": ("longitude", number, {""}),
    "ELEV(M)": ("elevation", number, {"", "-0999.0", "-0999.9"}),
    "BEGIN": ("begin", day, {""}),
    "END": ("end", day, {""}),
}


def expected(row):
    """A row's document as pairs: what is made of several columns, then the columns in their order."""
    pairs = []
    if row["USAF"] not in COLUMNS["USAF"][2]:
        pairs.append(("st", "u" + row["USAF"]))
    elif row["WBAN"] not in COLUMNS["WBAN"][2]:
        pairs.append(("st", "w" + row["WBAN"]))
    if row["LAT"] and row["LON"]:
        place = [("type", "Point"), ("coordinates", [number(row["LON"]), number(row["LAT"])])]
        pairs.append(("position", dict(place)))
    for column, value in row.items():
        key, meaning, fillers = COLUMNS[column]
        if value not in fillers:
            pairs.append((key, meaning(value)))
    return pairs


def found(line):
    """A printed document as pairs; doubles as numbers, because their spelling is the printer's affair."""
    pairs = json.loads(line, object_pairs_hook=list)
    for at, (key, value) in enumerate(pairs):
        if key == "position":
            (_, kind), (_, (longitude, latitude)) = value
            place = [{name: float(text) for name, text in one} for one in (longitude, latitude)]
            pairs[at] = (key, {"type": kind, "coordinates": place})
        elif isinstance(value, list):
            value = {name: dict(inner) if isinstance(inner, list) else inner for name, inner in value}
            if "$numberDouble" in value:
                value["$numberDouble"] = float(value["$numberDouble"])
            pairs[at] = (key, value)
    return [tuple(pair) for pair in pairs]


def parse(*arguments, data=None):
    return subprocess.run([TIPPLE, "parse", "-f", "isd-stations", *map(str, arguments)], input=data, check=True,
                          capture_output=True, timeout=900).stdout


class Stations(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        with open(STATIONS, encoding="ascii", newline="") as file:
            cls.rows = list(csv.DictReader(file))

    def compare(self, rows, printed):
        lines = printed.decode().splitlines()
        self.assertEqual(len(lines), len(rows))
        for row, line in zip(rows, lines):
            self.assertEqual(found(line), expected(row), row)

    def test_rows_are_worth_it(self):
        self.assertGreaterEqual(len(self.rows), 100)
        for column in ("LAT", "LON", "ELEV(M)", "STATION NAME", "CTRY", "STATE", "ICAO"):
            self.assertTrue(any(row[column] == "" for row in self.rows), column)
        for column, fillers in (("USAF", ["999999"]), ("WBAN", ["99999"]), ("ELEV(M)", ["-0999.0", "-0999.9"])):
            for filler in fillers:
                self.assertTrue(any(row[column] == filler for row in self.rows), filler)

    def test_every_row(self):
        self.compare(self.rows, parse(STATIONS))

    def test_columns_in_another_order(self):
        names = ["USAF", *reversed(list(COLUMNS)[1:])]
        moved = "".join(",".join('"%s"' % value for value in values) + "\r\n"
                        for values in [names, *([row[name] for name in names] for row in self.rows)])
        self.compare(self.rows, parse("-", data=moved.encode()))

    def test_written_again(self):
        self.compare(self.rows, parse("-", data=parse("--emit", "raw", STATIONS)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
