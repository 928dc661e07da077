"""Loads into a collection that holds documents which tipple did not load (--append). What is there afterwards is counted
in Python.  needs: standalone; nightly on: cluster"""
import json

import live
import livetest

OTHERS = [{"_id": "text %d" % i, "x": i} for i in range(50)] + [{"_id": -1 - i, "x": i} for i in range(20)] + [
    {"_id": {"a": i}, "x": i} for i in range(10)]


class Append(livetest.Case):
    format = None

    def write_csv(self, name, count, first=0):
        self.write(name, "k,v\n" + "".join("%d,value %d\n" % (i, i) for i in range(first, first + count)))

    def holds(self, others, count):
        """all that was there, as it was, and each record once"""
        documents = self.documents()
        theirs = [each for each in documents if "x" in each]
        self.assertEqual(sorted(map(repr, others)), sorted(map(repr, theirs)))
        self.assertEqual([(i, "value %d" % i) for i in range(count)],
                         sorted((each["k"], each["v"]) for each in documents if "k" in each))
        self.assertEqual(len(others) + count, len(documents))

    def prepare(self):
        """Documents of others; on a cluster the collection is sharded already."""
        if live.KIND == "cluster":
            self.client.command("admin", {"enableSharding": self.database})
            self.client.command("admin", {"shardCollection": self.database + ".results", "key": {"_id": 1}})
        self.client.insert(self.database, "results", OTHERS)

    def test_added(self):
        """others' documents stay, later loads need no flag, and verify counts what is not ours"""
        self.prepare()
        self.write_csv("a.csv", 1000)
        said = self.load("--append", "a.csv")
        self.assertEqual((1000, True), (said["loaded"], said["appended"]))
        self.assertRegex(self.stderr, "holds 80 documents already")
        self.write_csv("b.csv", 500, 1000)
        self.assertEqual(500, self.load("b.csv")["loaded"])
        self.holds(OTHERS, 1500)
        said = self.verified("a.csv", "b.csv")
        self.assertEqual((1500, 80), (said["as_expected"], said["documents_not_ours"]))
        said = self.verified("a.csv")
        self.assertEqual((80, 500), (said["documents_not_ours"], said["documents_of_other_files"]))
        status = json.loads(self.tipple("status", "--uri", self.uri(), "--json").stdout)
        self.assertTrue(status["appended"])

    def test_next_extent(self):
        """each later range is looked at, too, before anything is written into it"""
        self.prepare()
        self.write_csv("a.csv", 100)
        self.load("--append", "a.csv")
        base = next(each["_id"] for each in self.documents() if "k" in each) & ~((1 << 20) - 1) & ((1 << 53) - 1)
        others = OTHERS + [{"_id": base + (1 << 20) + 99, "x": 1}]
        self.client.insert(self.database, "results", others[-1:])
        self.write_csv("b.csv", 100, 100)
        self.refused("one of the _ids", "b.csv")
        self.holds(others, 100)
        self.assertEqual(81, self.verified("a.csv")["documents_not_ours"])

    def test_own_ids(self):
        """with --id an equal document is there, a different one is a reject, and the others are not ours"""
        others = [{"_id": "x1", "x": 1}, {"_id": "key 3", "x": 2}]
        self.client.insert(self.database, "results", others + [{"_id": "key 4", "k": "key 4", "v": 4}])
        self.write("a.csv", "k,v\n" + "".join("key %d,%d\n" % (i, i) for i in range(10)))
        said = self.load("--append", "--id", "k", "a.csv", status=2)
        self.assertEqual((8, 1, 1), tuple(said[key] for key in ("loaded", "already_there", "rejected")))
        self.assertEqual({"_id": "key 3", "x": 2}, next(each for each in self.documents() if each["_id"] == "key 3"))
        said = self.verified("a.csv")
        self.assertEqual(2, said["documents_not_ours"])


if __name__ == "__main__":
    livetest.main()
