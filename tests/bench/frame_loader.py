#!/usr/bin/env python3
"""Loads a table that is in memory in one of several ways, and prints what the call alone took: a line of JSON.

    frame_loader.py WAY URI DATABASE COLLECTION ROWS COLUMNS

load, verify (compares what load has loaded) and encode (makes the documents, and drops them) are tipple's, of a table of
pyarrow, as is pymongoarrow's; pandas is insert_many(to_dict("records")).
"""
import datetime
import json
import resource
import sys
import time

import pyarrow as pa

NAME = "bench"
FIRST = datetime.datetime(2024, 1, 1)
WORDS = ["ink", "paper", "glue", "ruler", "pencil sharpener"]


def table(rows, columns):
    """Whole numbers, doubles, words, times and texts in turn."""
    whole = pa.array(range(rows), pa.int64())
    kinds = [whole, pa.array([row / 7 for row in range(rows)]), pa.array([WORDS[row % 5] for row in range(rows)]),
             pa.array([FIRST + datetime.timedelta(seconds=row) for row in range(rows)], pa.timestamp("ms")),
             pa.array(["order %d" % row for row in range(rows)])]
    return pa.table({"column %d" % number: kinds[number % 5] for number in range(columns)})


def ways(uri, database, collection, made):
    """Each: what makes ready, which is not measured, and the call."""
    import tipple
    assert tipple.__version__  # the library is open now

    def load():
        return lambda: tipple.load(made, uri, name=NAME)

    def verify():
        return lambda: tipple.verify(made, uri, name=NAME).ok or sys.exit("there are differences")

    def encode():
        from tipple._rows import pieces
        return lambda: sum(len(piece) for piece in pieces([made], {}))

    def target():
        import pymongo
        return pymongo.MongoClient(uri)[database][collection]

    def pymongoarrow():
        from pymongoarrow.api import write
        into = target()
        return lambda: write(into, made)

    def pandas():
        frame, into = made.to_pandas(), target()
        return lambda: into.insert_many(frame.to_dict("records"))
    return locals()


def spent():
    return sum(getattr(resource.getrusage(who), kind) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
               for kind in ("ru_utime", "ru_stime"))


def main():
    way, uri, database, collection, rows, columns = sys.argv[1:]
    call = ways(uri, database, collection, table(int(rows), int(columns)))[way]()
    cpu, start = spent(), time.monotonic()
    call()
    print(json.dumps({"seconds": time.monotonic() - start, "cpu_seconds": spent() - cpu}))


if __name__ == "__main__":
    main()
