#!/usr/bin/env python3
"""A loader as someone who knows pymongo would write it in an afternoon, for comparison: two processes, each with
half of the file, the csv module, typed values, unordered insert_many of 1,000 documents.

    pymongo_loader.py URI DATABASE COLLECTION FILE.csv COLUMNS

COLUMNS names the columns: "t:int d:date k:text ...". An empty value is left out. Prints one line of JSON.
"""
import csv
import datetime
import io
import json
import multiprocessing
import os
import resource
import sys

import pymongo

PROCESSES, BATCH = 2, 1000


class Part(io.RawIOBase):
    """The bytes of a file from one line's start to another's."""

    def __init__(self, path, start, end):
        self.file, self.left = open(path, "rb", buffering=0), end - start
        self.file.seek(start)

    def readable(self):
        return True

    def readinto(self, buffer):
        got = self.file.readinto(memoryview(buffer)[:self.left])
        self.left -= got
        return got


def cut(path, parts):
    """Where each part starts and ends: at line starts."""
    size, starts = os.path.getsize(path), [0]
    with open(path, "rb") as file:
        for part in range(1, parts):
            file.seek(size * part // parts)
            file.readline()
            starts.append(file.tell())
    return list(zip(starts, starts[1:] + [size]))


def load(uri, database, collection, path, start, end, columns):
    target = pymongo.MongoClient(uri)[database][collection]
    kinds = {"int": int, "date": datetime.datetime.fromisoformat, "text": str}
    columns = [(name, kinds[kind]) for name, kind in columns]
    documents, batch = 0, []
    with io.TextIOWrapper(io.BufferedReader(Part(path, start, end), 1 << 20), encoding="utf-8", newline="") as text:
        for row in csv.reader(text):
            batch.append({name: kind(value) for (name, kind), value in zip(columns, row) if value})
            if len(batch) == BATCH:
                documents += len(target.insert_many(batch, ordered=False).inserted_ids)
                batch = []
    if batch:
        documents += len(target.insert_many(batch, ordered=False).inserted_ids)
    return documents, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    uri, database, collection, path, described = sys.argv[1:]
    columns = [column.split(":") for column in described.split()]
    jobs = [(uri, database, collection, path, start, end, columns) for start, end in cut(path, PROCESSES)]
    with multiprocessing.Pool(PROCESSES) as pool:
        loaded = pool.starmap(load, jobs)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"documents": sum(documents for documents, _ in loaded),
                      "peak_bytes": own + sum(peak for _, peak in loaded)}))


if __name__ == "__main__":
    main()
