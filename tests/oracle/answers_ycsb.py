#!/usr/bin/env python3
"""What the queries of the suite ycsb should answer, computed from the files alone.

    answers_ycsb.py FILE...       prints the answers with the suite's own parameters, as JSON
"""
import collections
import csv
import json
import sys

VALUES = (1, 10, 100, 1000, 10000)


def read(paths):
    rows = []
    for path in paths:
        with open(path, encoding="ascii", newline="") as file:
            for row in csv.DictReader(file):
                rows.append({key: value if key.startswith("field") else int(value) for key, value in row.items()})
    return rows


def point(rows, value):
    return [row for row in rows if row["zipf0"] == value]


def span(rows, first=100, last=109):
    return [row for row in rows if first <= row["zipf0"] <= last]


def top_5(rows, value):
    count = collections.Counter(row["zipf1"] for row in point(rows, value))
    return [{"zipf1": other, "rows": number}
            for other, number in sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))[:5]]


if __name__ == "__main__":
    all_rows = read(sys.argv[1:])
    json.dump({"point": {value: point(all_rows, value) for value in VALUES}, "range": span(all_rows),
               "top-5": {value: top_5(all_rows, value) for value in VALUES}}, sys.stdout, indent=1)
