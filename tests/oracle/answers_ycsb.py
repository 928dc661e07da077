"""What the queries of the suite ycsb should answer, computed from the files alone."""
import collections
import json

FIND, TOP_FIVE = (0, 10, 100, 1000, 17000), (0, 10, 100, 1000, 16000)


def read(paths):
    rows = []
    for path in paths:
        with open(path, encoding="ascii") as file:
            rows += map(json.loads, file)
    return rows


def find(rows, value):
    return [{key: row[key] for key in ("_id", "fieldInt0", "fieldInt1")} for row in rows if row["fieldInt0"] == value]


def span(rows, first=100, last=109):
    return [row for row in rows if first <= row["fieldInt0"] <= last]


def top_five(rows, value):
    totals = collections.Counter()
    for row in rows:
        if row["fieldInt0"] == value:
            totals[row["fieldInt1"]] += row["fieldInt2"]
    return [{"_id": other, "total": total}
            for other, total in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))[:5]]
