"""Files of `tipple generate obd` and `tipple generate ycsb` in a collection: every document byte for byte as Python
makes it of the file, their sizes, what queries find in them, and `tipple verify`.
needs: standalone; nightly on: replset; quick: yes"""
import collections
import csv
import datetime
import json

import livetest
import minimongo as mongo
from livetest import record_id_make

EPOCH = datetime.datetime(1970, 1, 1)


def moment(text):
    parsed = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    return mongo.Date((parsed - EPOCH) // datetime.timedelta(milliseconds=1))


def kind_of_sensor(name):
    """By what the column means: whole degrees, kilopascals, kilometres an hour of the wheels; all else has decimals."""
    if name == "timestamp":
        return moment
    counted = name in ("vehicleId", "tripId", "tripTimeSeconds", "vehicleSpeedKilometresPerHour")
    warm = name.endswith("TemperatureCelsius") and name != "catalystTemperatureCelsius"
    return int if counted or warm or name.endswith("Kilopascals") else float


def by_own_id(text):
    """_id: document, of lines of JSON."""
    documents = [json.loads(line) for line in text.decode("ascii").splitlines()]
    return {document["_id"]: {**document, "_id": mongo.Int64(document["_id"])} for document in documents}


class Generated(livetest.Case):
    format = None

    def made(self, kind, *words):
        """Generates a file into the test's folder and takes its format; the text."""
        self.format = kind
        self.tipple("generate", kind, *words, "-o", "a.csv")
        return (self.folder / "a.csv").read_bytes()

    def documents_of(self, text, kind_of):
        """id: document, of a plain file that is the first in its collection."""
        header, *lines = text.decode("ascii").splitlines(keepends=True)
        names = header.rstrip("\n").split(",")
        kinds, offset, documents = [kind_of(name) for name in names], len(header), {}
        for line, values in zip(lines, csv.reader(lines)):
            number = mongo.Int64(record_id_make(0, offset, 0))
            documents[number] = {"_id": number, **{n: kind(v) for n, kind, v in zip(names, kinds, values)}}
            offset += len(line)
        return documents

    def loaded(self, documents, name="a.csv"):
        counts = self.load(name)
        self.assertEqual((len(documents), 0), (counts["loaded"], counts["rejected"]))
        self.holds({number: mongo.encode(document) for number, document in documents.items()})
        self.assertEqual(len(documents), self.client.count(self.database, "results"))
        said = self.verified(name)
        self.assertEqual((0, len(documents)), (said["status"], said["documents"]))

    def average_bytes(self):
        group = {"_id": None, "bytes": {"$avg": {"$bsonSize": "$$ROOT"}}}
        return next(iter(self.client.aggregate(self.database, "results", [{"$group": group}])))["bytes"]

    def test_obd(self):
        """car sensors: 40 fields, 1,400 bytes; a trip's figures are those of its rows"""
        documents = self.documents_of(self.made("obd", "--rows", "4k", "--seed", "3"), kind_of_sensor)
        self.loaded(documents)
        self.assertTrue(all(len(document) == 41 for document in documents.values()))
        self.assertTrue(1300 <= self.average_bytes() <= 1500)
        trips = collections.defaultdict(list)
        for document in documents.values():
            trips[document["tripId"]].append(document)
        found = self.client.aggregate(self.database, "results", [
            {"$group": {"_id": "$tripId", "seconds": {"$sum": 1}, "fastest": {"$max": "$vehicleSpeedKilometresPerHour"},
                        "begun": {"$min": "$timestamp"}, "far": {"$max": "$tripDistanceKilometres"}}},
            {"$sort": {"_id": 1}}])
        self.assertEqual(
            [(trip, len(rows), max(row["vehicleSpeedKilometresPerHour"] for row in rows),
              min(row["timestamp"] for row in rows), max(row["tripDistanceKilometres"] for row in rows))
             for trip, rows in sorted(trips.items())],
            [(one["_id"], one["seconds"], one["fastest"], one["begun"], one["far"]) for one in found])

    def test_ycsb(self):
        """documents by _id: every _id once, a kilobyte each; a frequent and a rare number are found as often as they are there"""
        documents = by_own_id(self.made("ycsb", "--rows", "3k", "--seed", "3"))
        self.loaded(documents)
        self.assertEqual(1042, self.average_bytes())
        ids = self.client.aggregate(self.database, "results", [{"$match": {"_id": {"$type": "long"}}}, {"$sort": {"_id": 1}},
                                                               {"$project": {"_id": 1}}])
        self.assertEqual(list(range(3000)), [document["_id"] for document in ids])
        values = collections.Counter(document["fieldInt3"] for document in documents.values())
        for value in (0, 1, max(values)):
            self.assertEqual(values[value], self.client.count(self.database, "results", {"fieldInt3": value}))

    def test_ranges(self):
        """loaders with a range each, side by side, make the documents of one file"""
        self.format = "ycsb"
        for first in range(0, 2000, 500):
            self.tipple("generate", "ycsb", "--rows", "500", "--first", str(first), "-q", "-o", "%d.json" % first)
        self.tipple("generate", "ycsb", "--rows", "2k", "-q", "-o", "all.json")
        whole = (self.folder / "all.json").read_bytes()
        self.assertEqual(whole, b"".join((self.folder / ("%d.json" % first)).read_bytes() for first in range(0, 2000, 500)))
        loaders = [self.start("%d.json" % first) for first in range(0, 2000, 500)]
        for loader in loaders:
            self.assertEqual(0, loader.wait(livetest.LONG), loader.args)
        self.holds({number: mongo.encode(document) for number, document in by_own_id(whole).items()})

    def test_study(self):
        """documents of the petabyte study: 147,439 bytes"""
        documents = by_own_id(self.made("ycsb", "--rows", "20", "--study"))
        self.loaded(documents)
        self.assertEqual(147439, self.average_bytes())


if __name__ == "__main__":
    livetest.main()
