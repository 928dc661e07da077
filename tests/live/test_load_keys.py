"""Loads whose `_id`s are the data's own: those that JSON documents bring, and values of fields (--id). What is in the
collection is compared with Python's reading of the same text.  needs: standalone; nightly on: cluster"""
import json
import random

import livetest
from livecluster import Cluster


def own_id(number):
    """Integers, doubles, texts, ObjectIds, documents; each number another `_id`."""
    return (number, number + 0.5, "key é %d" % number, {"$oid": "%024x" % number},
            {"shop": number % 7, "order": str(number)})[number % 5]


def made(count, seed=1):
    draw = random.Random(seed)
    numbers = list(range(count))
    draw.shuffle(numbers)
    objects = [{"name": "n%d" % number, "_id": own_id(number), "v": draw.randrange(2**40)} for number in numbers]
    return objects


def lines(objects):
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)


def plain(value):
    """An `_id` as both readings write it."""
    if isinstance(value, dict) and "$oid" in value:
        return "oid " + value["$oid"]
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    return value if isinstance(value, (int, float, str)) else "oid " + value.hex()


class Keys(livetest.Case):
    format = None

    def holds_objects(self, objects, *names):
        found = {plain(each["_id"]): (each["name"], each["v"]) for each in self.documents()}
        expected = {plain(each["_id"]): (each["name"], each["v"]) for each in objects}
        self.assertEqual([], [key for key in expected if found.get(key) != expected[key]][:3])
        self.assertEqual(len(expected), len(found))
        self.assertEqual(len(found), self.verified(*names)["documents"])

    def test_kept(self):
        """documents keep the `_id` that they bring; a second load of the same ones finds them there"""
        objects = made(1000)
        self.write("a.json", lines(objects))
        self.assertEqual(1000, self.load("a.json")["loaded"])
        self.holds_objects(objects, "a.json")
        self.write("b.json", lines(objects[200:600]))
        said = self.load("b.json")
        self.assertEqual((0, 400), (said["loaded"], said["already_there"]))
        self.holds_objects(objects, "a.json", "b.json")

    def test_fields(self):
        """--id makes the `_id` of one field, or of two; they stay in the document"""
        self.write("a.csv", "shop,order,amount\n" + "".join("%d,A%d,%d\n" % (i % 10, i, i) for i in range(400)))
        for fields, expected in (("order", lambda i: "A%d" % i), ("shop,order", lambda i: {"shop": i % 10, "order": "A%d" % i})):
            with self.subTest(fields=fields):
                self.client.drop_database(self.database)
                self.assertEqual(400, self.load("--id", fields, "a.csv")["loaded"])
                self.assertEqual([json.dumps(expected(i)) for i in range(400)],
                                 [json.dumps(each["_id"]) for each in sorted(self.documents(), key=lambda each: each["amount"])])
                self.assertEqual({"_id", "shop", "order", "amount"}, set(self.documents()[0]))
                self.assertEqual(400, self.verified("a.csv")["documents"])
                self.load("a.csv")
                self.refused("with --id %s, not amount" % fields, "--id", "amount", "a.csv")

    def test_no_value(self):
        """a record without a value in the field of --id is a reject; fixed, it is loaded, and verify finds it"""
        self.write("a.csv", "k,v\n1,one\n,none\n2,two\n2,other\n3,three\n")
        said = self.load("--id", "k", "a.csv", status=2)
        self.assertEqual((3, 2), (said["loaded"], said["rejected"]))
        self.assertIn("field of --id", self.stderr)
        kept = self.folder / (self.database + ".results.rejects")
        self.write("fixed", kept.read_text().replace("\n,none", "\n4,none").replace("\n2,other", "\n5,other"))
        self.assertEqual(2, self.load("--retry", "fixed")["loaded"])
        self.assertEqual([1, 2, 3, 4, 5], sorted(each["_id"] for each in self.documents()))
        self.assertEqual(0, self.load("a.csv")["read"])
        self.verified("a.csv")
        self.verified("--retry", "fixed", "a.csv")
        self.client.command(self.database, {"delete": "results", "deletes": [{"q": {"_id": 5}, "limit": 1}]})
        self.assertEqual(1, self.verified("a.csv", status=7)["missing"])
        said = self.verified("--files-only", "a.csv")  # whose _ids nobody knows without a scan of everything
        self.assertEqual((0, 2), (said["fixed"], said["fixed_not_looked_for"]))
        self.assertEqual(1, self.verified("--files-only", "--retry", "fixed", "a.csv", status=7)["missing"])

    @livetest.nightly
    def test_fixed_to_something_else(self):
        """verify believes the reject file that is given, and not that some fix was loaded: by `_id`s and by places"""
        self.write("a.csv", "k,v\n1,10\n2,x\n3,30\n4,y\n5,z\n")
        for collection, words in (("ids", ("--id", "k")), ("places", ())):
            self.load("-t", "k:int", "-t", "v:int", "--on-bad-value", "reject", "--rejects", collection + ".0", *words, "a.csv",
                      status=2, collection=collection)
            kept = (self.folder / (collection + ".0")).read_text().replace("\n2,x", "\n2,22")
            self.write(collection + ".f", kept.replace("\n4,y", "\n4,44").replace("\n5,z", "\n5,55"))
            self.write(collection + ".g", kept.replace("\n4,y", "\n4,45").replace("\n5,z", "\n5,55"))
            self.load("--retry", collection + ".f", collection=collection)
            self.tipple("verify", "--uri", self.uri(collection), "a.csv", "--retry", collection + ".f")
            said = self.tipple("verify", "--uri", self.uri(collection), "a.csv", "--retry", collection + ".g", status=7)
            self.assertRegex(said.stdout, rb"changed +a.csv line 5 .*44.*45")

    @livetest.nightly
    def test_fixed_in_the_second_file(self):
        """a fix was refused, and the right one came from the reject file of its load: both files together, and a first one
        whose record is still none, say the same; the first file's other document is reported"""
        kept = self.database + ".results.rejects"
        for fix, alone in ('{"_id": 1, "v": 3}', 7), ('{"_id": 2, "v": 3', 0):
            self.client.drop_database(self.database)
            for path in self.folder.glob(kept + "*"):
                path.unlink()
            self.write("a.json", '{"_id": 1}\n{"_id": 2}\n{"_id": 2, "v": 3}\n')
            for words, name, text in (["a.json"], kept, fix), (["--retry", kept], kept + ".2", '{"_id": 3, "v": 3}'):
                self.load(*words, status=2)
                lines = (self.folder / name).read_text().splitlines()
                self.write(name, "\n".join(lines[:-1] + [text, ""]))
            self.assertEqual(1, self.load("--retry", kept + ".2")["loaded"])
            for files in ["--retry", kept + ".2"], ["--retry", kept, "--retry", kept + ".2"], []:
                self.verified("a.json", *files)
            done = self.tipple("verify", "--uri", self.uri("results"), "a.json", "--retry", kept, status=alone)
            self.assertEqual(alone == 7, b"a.json at byte 22) the catalog" in done.stderr.encode())

    def test_streams(self):
        """what was looked at of a stream is loaded, too"""
        for text in ('{"x": 1}\n{"x": 2}\n', lines(made(25000, 3))):
            with self.subTest(bytes=len(text)):
                self.client.drop_database(self.database)
                self.assertEqual(text.count("\n"), self.load("-", stdin=text.encode())["loaded"])

    @livetest.nightly
    def test_never_overwritten(self):
        """a record that was cut off, and equal to another input's, does not take that one along when it grows"""
        self.write("a.csv", "k,v\n1,a\n12,cc\n")
        self.write("b.csv", "k,v\n9,z\n12,cc")
        self.load("--id", "k", "a.csv")
        self.load("--batch", "1", "b.csv")
        self.write("b.csv", "k,v\n9,z\n12,ccdd\n77,q\n")
        self.load("--batch", "1", "b.csv", status=5)
        self.load("--batch", "1", "--reload-changed", "b.csv", status=2)
        self.assertEqual("cc", next(each["v"] for each in self.documents() if each["_id"] == 12))
        self.verified("a.csv", "b.csv")

    def test_numbers(self):
        """one `_id` in two spellings is a reject; two that are nearly one are not"""
        self.write("a.json", '{"_id": 0.1}\n{"_id": {"$numberDecimal": "0.1"}}\n{"_id": {"a": 1}, "x": 1}\n'
                   '{"_id": {"a": 1.0}, "x": 2}\n{"_id": [1]}\n{"_id": {"$undefined": true}}\n')
        said = self.load("a.json", status=2)
        self.assertEqual((3, 3), (said["loaded"], said["rejected"]))
        self.assertEqual(3, self.verified("a.json")["documents"])

    def test_odd_names(self):
        """keys of an `_id` that only a server takes: they are found again; those that it does not take are rejects"""
        odd = [{"": 1}, {"a": {"": 1}}, {"a": [{"": 2}]}, {"$ref": "c", "$id": 1}, {"a": 1, "b.c": 2}]
        bad = [{"$x": 1}, {"$id": 1, "$ref": "c"}, {"$ref": "c", "$x": 1}, {"a": {"$x": 1}}]
        objects = [{"_id": key, "v": number} for number, key in enumerate([*odd, *bad, 7])]
        self.write("a.json", lines(objects[:-1]))
        said = self.load("a.json", status=2)
        self.assertEqual((5, 4), (said["loaded"], said["rejected"]))
        self.write("b.json", lines([*objects, {"_id": {"": 1}, "v": -1}]))
        said = self.load("b.json", status=2)
        self.assertEqual((1, 5, 5), tuple(said[key] for key in ("loaded", "already_there", "rejected")))
        self.assertEqual(sorted([*odd, 7], key=str), sorted((each["_id"] for each in self.documents()), key=str))
        self.assertEqual(6, self.verified("a.json", "b.json")["documents"])

    def test_grown(self):
        """whole lines that come later are loaded; a record that was cut off by the file's end is refused"""
        objects = made(600)
        text = lines(objects)
        self.write("a.json", lines(objects[:300]))
        self.load("a.json")
        self.write("a.json", text)
        self.assertEqual(300, self.load("a.json")["loaded"])
        self.holds_objects(objects, "a.json")
        self.client.drop_database(self.database)
        self.write("b.csv", "k,v\n1,one\n2,tw")
        self.load("--id", "k", "b.csv")
        self.write("b.csv", "k,v\n1,one\n2,two\n3,three\n")
        self.load("b.csv", status=5)
        self.assertIn("grown in the middle", self.stderr)
        self.client.command(self.database, {"delete": "results", "deletes": [{"q": {"_id": 2}, "limit": 1}]})
        self.assertEqual(2, self.load("--reload-changed", "b.csv")["loaded"])
        self.verified("b.csv")


class Sharded(Cluster):
    """On two shards: split where a sample of the `_id`s says."""
    format = None

    def test_even(self):
        self.write("a.json", lines([{"_id": "k%06d" % i, "name": "n", "v": i} for i in range(8000)]))
        there = self.shares(self.load("a.json"))
        self.assertLess(abs(there["s0"] - there["s1"]), 1600, there)

    def test_shard_keys(self):
        """fields of --id as the shard key, or a hash of the _id"""
        self.write("a.csv", "shop,order,amount\n" + "".join("%d,A%d,%d\n" % (i % 10, i, i) for i in range(400)))
        self.assertEqual(400, self.load("--id", "shop,order", "--shard-key", "shop:hashed", "a.csv")["loaded"])
        self.assertEqual(400, self.verified("a.csv")["documents"])
        self.load("--id", "order", "--drop", "--yes", "--shard-key", "_id:hashed", "a.csv")
        self.assertEqual(400, self.verified("a.csv")["documents"])


if __name__ == "__main__":
    livetest.main()
