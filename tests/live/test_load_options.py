"""What the options of `tipple load` do, and what it says of itself.  needs: replset; nightly on: standalone"""
import json

import live
import livetest
from livetest import Books, rows

CONTRACT = {"schema": int, "command": str, "status": int, "read": int, "loaded": int, "already_there": int,
            "rejected": int, "filtered": int, "seconds": float, "docs_per_second": (int, float), "bytes_read": int,
            "bytes_bson": int, "client_cpu_seconds": float, "peak_memory_bytes": int, "batches": int, "retries": int,
            "shards": list, "limited_by": str}


class Said(livetest.Case):
    def test_json(self):
        """--json has exactly the fields of the contract, with their types and true values"""
        text = rows(3000, bad={5})
        self.write("a.csv", text)
        done = self.tipple(*self.words("a.csv", "--batch", 100), status=2)
        self.assertEqual(1, done.stdout.count(b"\n"))
        names = []
        said = json.loads(done.stdout, object_pairs_hook=lambda pairs: names.append([key for key, _ in pairs]) or dict(pairs))
        self.assertEqual(len(set(names[-1])), len(names[-1]), "a field stands twice")
        for key, kind in CONTRACT.items():
            self.assertIsInstance(said[key], kind, key)
        self.assertEqual((1, "load", 2, 3000, 2999, 0, 1, 0), tuple(said[key] for key in list(CONTRACT)[:8]))
        self.assertEqual(len(text), said["bytes_read"])
        books = Books().plain("a.csv", text)
        self.assertEqual(sum(map(len, books.documents().values())), said["bytes_bson"])
        self.assertEqual(2999, sum(shard["documents"] for shard in said["shards"]))
        self.assertTrue(all(isinstance(shard["name"], str) for shard in said["shards"]))
        self.assertGreaterEqual(said["batches"], 30)
        self.assertGreater(said["seconds"], 0)
        self.assertGreater(said["peak_memory_bytes"], 1 << 20)

    def test_text(self):
        """the accounting line adds up, with and without -q, and says what the JSON says"""
        self.write("a.csv", rows(1234, bad={2, 4}))
        self.write("b.csv", rows(10, 2))
        done = self.tipple(*self.words("a.csv", json_wanted=False), status=2)
        counts = livetest.text_counts(done.stdout)
        self.assertEqual((1234, 1232, 0, 2, 0), tuple(counts[part] for part in livetest.PARTS))
        self.assertIn("%s.results.rejects" % self.database, done.stdout.decode())
        done = self.tipple(*self.words("b.csv", "-q", json_wanted=False))
        self.assertEqual((1, ""), (done.stdout.count(b"\n"), done.stderr))
        self.assertEqual(10, livetest.text_counts(done.stdout)["loaded"])
        again = self.tipple(*self.words("b.csv", json_wanted=False)).stdout.decode()
        self.assertIn("\nnothing to load: 10 records of 1 file", again)


class Place(livetest.Case):
    def options(self, collection):
        listed = self.client.command(self.database, {"listCollections": 1, "filter": {"name": collection}})
        return listed["cursor"]["firstBatch"][0]["options"]

    def test_clustered(self):
        """--create: clustered on _id unless it says otherwise; any option of the server; an existing collection is not changed"""
        self.write("a.csv", rows(100))
        for words, collection, clustered in (((), "a", True), (("--create", '{"clusteredIndex": true}'), "b", True),
                                             (("--create", '{"clusteredIndex": false}'), "c", False)):
            counts = self.load("a.csv", *words, collection=collection)
            self.assertEqual(clustered, counts["clustered"])
            options = self.options(collection)
            self.assertEqual(clustered, "clusteredIndex" in options)
            self.holds(Books().plain("a.csv", rows(100)), collection)
        create = '{"validator": {"k": {"$exists": true}}, "collation": {"locale": "de"}}'
        for _ in range(2):
            self.load("a.csv", "--create", create, collection="d")
        options = self.options("d")
        self.assertEqual(({"k": {"$exists": True}}, "de"), (options["validator"], options["collation"]["locale"]))
        self.load("a.csv", "--create", create.replace("true", "false"), "--compressor", "none", collection="d")
        self.assertIn("and --compressor none", self.stderr)
        self.assertEqual(options, self.options("d"))
        for create in '{"validator": {"$no": 1}}', '{"odd": 1}':
            self.load("a.csv", "--create", create, "--compressor", "zlib", collection="e", status=1)
            self.assertIn("does not make", self.stderr)
            self.assertNotIn("e", self.everything())
        self.load("a.csv", "--create", '{"odd": 1}', "--drop", "--yes", collection="d", status=4)
        self.assertRegex(self.stderr, "does not make .* with these options.*; --drop has dropped")
        self.load("a.csv", collection="d")
        self.assertEqual(100, self.client.count(self.database, "d"))

    def test_compressor(self):
        """--compressor is what the storage engine really uses"""
        self.write("a.csv", rows(100))
        for name in ("none", "zstd"):
            self.load("a.csv", "--compressor", name, collection=name)
            stats, = self.client.aggregate(self.database, name, [{"$collStats": {"storageStats": {}}}])
            made = stats["storageStats"]["wiredTiger"]["creationString"]
            self.assertIn("block_compressor=%s," % name, made)

    def test_what_a_drop_takes_away(self):
        """options and indexes that the load does not make again are named in one paragraph"""
        self.write("a.csv", rows(1000))
        made = [{"v": 2, "key": {"d": 1}, "name": "d_1"}, {"v": 2, "key": {"k": -1}, "name": "by \"k\"", "sparse": True}]
        self.client.command(self.database, {"create": "results", "validator": {"k": {"$exists": True}}})
        self.client.command(self.database, {"createIndexes": "results", "indexes": made})
        again = ["--drop", "--yes", "a.csv", "--index", "d:1"]
        self.load(*again)
        lost = [line for line in self.stderr.splitlines() if line.startswith("    ")]
        self.assertEqual(2, len(lost), self.stderr)
        self.assertEqual('    options { "validator" : { "k" : { "$exists" : true } } }', lost[0])
        self.assertEqual(made[1], json.loads(lost[1].removeprefix("    index ")))
        self.load(*again)
        self.load(*again, "--index", "k:1")
        self.assertNotIn("takes away", self.stderr)

    def test_index_of_another_name(self):
        """one that is there costs nothing, whatever its name; one with other options stays what it is, and is reported"""
        self.client.command(self.database, {"createIndexes": "results", "indexes": [
            {"key": {"d": 1}, "name": "mine"}, {"key": {"k": "text"}, "name": "words", "default_language": "german"}]})
        self.write("a.csv", rows(100))
        self.load("a.csv", "--index", "d:1")
        self.assertEqual(["mine", "words"], [index["name"] for index in self.listed_indexes()])
        self.load("a.csv", "--index", '{"key": {"m": 1}, "name": "hidden", "hidden": true}')
        for other in ("k:text", "m:1", '{"key": {"d": 1}, "name": "d_1", "expireAfterSeconds": 5}'):
            self.load("a.csv", "--index", other, status=4)
            self.assertIn("could not build", self.stderr)

    def test_index_that_is_refused(self):
        """the others are built all the same; each that is not is reported"""
        self.write("a.csv", rows(1000))
        self.load("a.csv", "--index", "d:1", "--index", "y:1;unique", "--index", "k:1", "--index", "s:1;unique", "--index", "t:1", status=4)
        self.assertRegex(self.stderr, "index y_1 .*\n.*index s_1 ")
        self.assertEqual(["d_1", "k_1", "t_1"], [index["name"] for index in self.listed_indexes()])

    def listed_indexes(self):
        listed = self.client.command(self.database, {"listIndexes": "results"})["cursor"]["firstBatch"]
        return sorted((index for index in listed if "_id" not in index["key"]), key=lambda index: index["name"])


class Choice(livetest.Case):
    def test_memory(self):
        """16 threads and a stream of 60 MB keep within --memory and 64 MiB"""
        text = rows(0) + 60000 * (Big.record(1000) + b"\n")  # large records: few are enough
        counts = self.load("-", "-j", 16, "--memory", "16M", stdin=text)
        self.assertEqual(60000, counts["loaded"])
        self.assertLess(counts["peak_memory_bytes"], 80 << 20)


class Big(livetest.Case):
    @staticmethod
    def record(size, filler=b"X"):
        """A record of that many bytes, by a long model."""
        head, tail = b"1|2|2016-01-02|4|NT|P|1|B|BMW|", b"|RED|PE|1|2001-01-01"
        return head + filler * (size - len(head) - len(tail)) + tail

    def test_large_documents(self):
        """a document of exactly 16 MiB is loaded, one byte more is a reject"""
        fixed = len(livetest.document(1, livetest.body_of(self.record(100)))) - 100
        exact, more = self.record((16 << 20) - fixed), self.record((16 << 20) - fixed + 1)
        latin = self.record(9 << 20, b"\xcb")  # twice as long in UTF-8
        text = rows(20) + more + b"\n" + exact + b"\n" + latin + b"\n" + self.record(17 << 20) + b"\n" + rows(20, 2, header=False)
        self.write("a.csv", text)
        counts = self.load("a.csv", status=2)
        self.assertEqual((44, 41, 0, 3), tuple(counts[part] for part in livetest.PARTS[:4]))
        self.assertRegex(self.stderr, "a.csv:22:.*larger than the server")
        self.assertRegex(self.stderr, "a.csv:25:.*longer than 16 MiB")
        expected = {number: raw for number, raw in Books().plain("a.csv", text).documents().items() if len(raw) <= 16 << 20}
        self.assertEqual([16 << 20], [len(raw) for raw in expected.values() if len(raw) > 1000])
        self.holds(expected)

    def test_large_records_and_little_memory(self):
        """records of 15 MB go through --memory 16M, many of 1 MB too"""
        text = rows(20) + b"".join(self.record(size) + b"\n" for size in (15 << 20, *[1 << 20] * 20)) + rows(9, 2)
        self.write("a.csv", text)
        self.assertEqual(50, self.load("a.csv", "--memory", "16M", "-j", 8)["loaded"])
        self.holds(Books().plain("a.csv", text))


if __name__ == "__main__":
    assert live.TIPPLE
    livetest.main()
