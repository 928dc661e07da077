"""What the queries of the suite obd should answer, computed from the file alone."""
import csv
import math

FIELD = "engineRevolutionsPerMinute"
COUNTS = [10**power for power in range(7)]
WINDOW = 256 << 10


def lane(offset):
    """Blocks of 256 KiB are spread over 1024 ranges of _id by their number, its ten bits reversed."""
    return int("{:010b}".format(offset // WINDOW % 1024)[::-1], 2)


def read(path):
    """The field of each row, in the order of _id: for one plain file in a collection of its own."""
    with open(path, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    column = next(csv.reader([lines[0].decode()])).index(FIELD)
    found, offset = [], len(lines[0])
    for line in lines[1:]:
        found.append((lane(offset), offset, float(line.split(b",")[column])))
        offset += len(line)
    return [value for _, _, value in sorted(found)]


def figures(values, count):
    some = values[:count]
    return {"_id": 0, "value": {"count": len(some), "sum": math.fsum(some), "min": min(some), "max": max(some)}}
