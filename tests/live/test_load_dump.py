"""Archives and folders of mongodump: one collection of several is loaded and proven, its indexes are built after it, and what a
dump does not hold is reported. Dumps are made here, byte by byte, and, where Go can build them, by the real mongodump; the real
mongorestore reads what `tipple parse --emit bson` writes.  needs: standalone"""
import gzip
import json
import os
import struct
import subprocess

from dumplab import archive, header, split
import livetest
import minimongo
import mongotools


def made(count, what):
    return [minimongo.encode({"k": i, what: "v%d" % i, "note": "z" * (i * 7 % 400)}) for i in range(count)]


INDEXES = json.dumps({"indexes": [
    {"v": {"$numberInt": "2"}, "key": {"_id": {"$numberInt": "1"}}, "name": "_id_"},
    {"v": {"$numberInt": "2"}, "key": {"k": {"$numberInt": "-1"}}, "name": "by k", "unique": True},
    {"v": {"$numberInt": "2"}, "key": {"_fts": "text", "_ftsx": {"$numberInt": "1"}}, "name": "words",
     "weights": {"note": {"$numberInt": "1"}}, "default_language": "english", "language_override": "language",
     "textIndexVersion": {"$numberInt": "3"}},
    {"v": {"$numberInt": "2"}, "key": {"t": {"$numberInt": "1"}}, "name": "old", "expireAfterSeconds": {"$numberInt": "5"}}],
    "collectionName": "orders", "type": "collection"})


class Dump(livetest.Case):
    format = "bson"

    def put(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def holds(self, texts, *names, collection="results"):
        found = [struct.pack("<i", len(raw) - 13) + raw[17:]
                 for raw in self.client.find(self.database, collection, raw=True)]
        self.assertEqual(sorted(texts), sorted(found))
        said = json.loads(self.tipple("verify", "-f", "bson", "--uri", self.uri(collection), "--json", *names).stdout)
        self.assertEqual(len(texts), said["documents"])

    def indexes(self, collection="results"):
        reply = self.client.command(self.database, {"listIndexes": collection})
        return {each["name"]: each for each in reply["cursor"]["firstBatch"]}

    def test_of_the_uri(self):
        """where none is named, it is the one of the URI, or the only one; else nothing is written"""
        texts, others = made(50, "o"), made(70, "i")
        self.put("d.archive", archive({self.database + ".results": texts, "shop.items": others}))
        self.assertEqual(len(texts), self.load("d.archive")["loaded"])
        self.holds(texts, "d.archive")
        self.load("d.archive", status=1, collection="else")
        self.assertRegex(self.stderr, r"d\.archive: .* 2 collections \(.*shop\.items\)")
        self.assertEqual(0, self.client.count(self.database, "else"))
        self.put("one.archive", archive({"shop.items": others}))
        self.assertEqual(len(others), self.load("one.archive", collection="else")["loaded"])
        self.assertIn("shop.items: it is taken for %s.else" % self.database, self.stderr)
        self.assertEqual(len(others), self.load("one.archive!shop.items", collection="named")["loaded"])
        self.assertNotIn("is taken for", self.stderr)
        self.assertEqual(0, self.load("one.archive!shop.items", collection="named")["read"])

    def test_cut_off_elsewhere(self):
        """an archive that ends within or before another collection is said to be cut off, and this one to be whole"""
        texts = made(30, "o")
        whole = archive({"shop.orders": texts, "shop.items": made(500, "i")}, others={"shop.v": "view"})
        last = whole.rindex(header("shop.items", True)[:20])
        ends = "!shop.orders: ends in .* dump data, at byte %d[.] .* shop.orders was read"
        for cut in (last + 30, len(whole) // 2, last, whole.rindex(header("shop.v", True)[:20])):
            for name, data, said in (
                    ("d.archive", whole[:cut], ends), ("d.gz", gzip.compress(whole[:cut]), ends),
                    ("d.gz", gzip.compress(whole, 0)[:cut], ": .*gzip data.* shop.orders was read")):
                with self.subTest(cut=cut, name=name):
                    self.client.drop_database(self.database)
                    self.put(name, data)
                    self.assertEqual(30, self.load(name + "!shop.orders", status=5)["loaded"])
                    self.assertRegex(self.stderr, name + (said % cut if "%d" in said else said))

    def test_folder(self):
        """the collection of the URI out of a folder, with its indexes; views, time series and others are reported"""
        texts = made(200, "o")
        folder = "dump/%s/" % self.database
        for packed in (False, True):
            pack, end = (gzip.compress, ".gz") if packed else (bytes, "")
            with self.subTest(packed=packed):
                self.client.drop_database(self.database)
                subprocess.run(["rm", "-rf", self.folder / "dump"], check=True)
                for name, data in (("orders.bson", b"".join(texts)), ("orders.metadata.json", INDEXES.encode()),
                                   ("items.bson", b"".join(made(9, "i"))), ("items.metadata.json", b"{}"),
                                   ("v.metadata.json", b'{"type": "view"}'),
                                   ("w.metadata.json", b'{"type": "timeseries"}'),
                                   ("system.buckets.w.bson", b"")):
                    self.put(folder + name + end, pack(data))
                self.assertEqual(200, self.load("dump", collection="orders")["loaded"])
                for said in (r"v\.metadata\.json.*: a view", r"w\.metadata\.json.*: .*time series",
                             r"system\.buckets\.w\.bson.*: a collection",
                             "index old .*not built"):
                    self.assertRegex(self.stderr, said)
                self.holds(texts, "dump", collection="orders")
                found = self.indexes("orders")
                self.assertTrue(found["by k"]["unique"])
                self.assertEqual({"note": 1}, found["words"]["weights"])
                self.assertNotIn("old", found)
                self.load("dump", status=1)
                self.assertRegex(self.stderr, r"dump: .* 2 collections \(\S+\.items, \S+\.orders\)")
                self.assertEqual(9, self.load(folder + "items.bson" + end)["loaded"])

    def test_folder_of_the_uri_without_documents(self):
        """where the URI names a view or a time series of the dump, or a collection whose .bson file is missing, the only other
        collection is not taken for it, nor what is there dropped; one of another name is still taken"""
        folder = "dump/%s/" % self.database
        self.put_dump("dump/" + self.database, {"orders": made(30, "o")})
        named = r"\S+\.städte"
        for said, metadata in ((named + " is a view", b'{"options": {"viewOn": "orders"}}'),
                               (named + r" is a collection whose documents \(\.bson\) are missing", b'{"indexes": []}')):
            self.put(folder + "st%C3%A4dte.metadata.json", metadata)
            self.client.drop_database(self.database)
            self.client.insert(self.database, "städte", [{"_id": 1}])
            for words in (), ("--drop", "--yes"):
                with self.subTest(said=said, words=words):
                    self.load("dump", *words, collection="städte", status=5)
                    self.assertRegex(self.stderr, "of this dump " + said)
                    self.assertEqual(1, self.client.count(self.database, "städte"))
            self.assertEqual(30, self.load("dump", collection="other")["loaded"])

    def each(self, command, *words, path="", status=0):
        """How many documents of each collection, in turn, where the URI names none."""
        uri = self.uri().replace("/%s.results" % self.database, "/" + path)
        done = self.tipple(command, "--uri", uri, "--json", *words, status=status)
        self.stderr = done.stderr
        said = [json.loads(line) for line in done.stdout.splitlines()]
        return {each["namespace"]: each.get("documents", each.get("loaded")) for each in said}

    def put_dump(self, folder, collections):
        for name, texts in collections.items():
            self.put("%s/%s.bson" % (folder, name), b"".join(texts))
            self.put("%s/%s.metadata.json" % (folder, name), b'{"indexes": []}')

    def test_each(self):
        """a URI without a collection: each of a folder or an archive, under its own name or in the database that is named;
        a second load has nothing to do"""
        held = {"orders": made(200, "o"), "items": made(70, "i"), "none": []}
        names = {"%s.%s" % (self.database, name): len(texts) for name, texts in held.items()}
        self.put_dump("dump/" + self.database, held)
        self.put_dump("dump/admin", {"system.users": made(3, "u")})
        self.put_dump("dump/config", {"mongos": made(3, "u")})
        self.put("d.archive", archive({**{"%s.%s" % (self.database, name): texts for name, texts in held.items()},
                                       "admin.x": []}, others={"shop.v": "view"}))
        self.put("shop.gz", gzip.compress(archive({"shop." + name: texts for name, texts in held.items()})))
        for name, path in (("dump", ""), ("d.archive", ""), ("shop.gz", self.database)):
            with self.subTest(name=name):
                self.client.drop_database(self.database)
                left_out = 2 if name == "d.archive" else 0  # the view
                self.assertEqual(names, self.each("load", name, path=path, status=left_out))
                self.assertEqual(bool(left_out), "series named above" in self.stderr)
                for passed in ("dump/admin/system.users.bson", "dump/config/mongos.bson") if name == "dump" else ():
                    self.assertIn("skipped %s: a collection" % passed, self.stderr)
                self.assertEqual(dict.fromkeys(names, 0), self.each("load", name, path=path, status=left_out))
                self.assertEqual(names, self.each("verify", name, path=path))
                for collection, texts in held.items():
                    found = self.client.find(self.database, collection, raw=True)
                    self.assertEqual(sorted(texts), sorted(struct.pack("<i", len(raw) - 13) + raw[17:] for raw in found))

    def test_each_but_catalogs(self):
        """of a database that tipple has loaded, the catalogs are passed over: each collection gets one of its own, by which it
        is resumed, verified and forgotten; one that is named is refused, or loaded, as ever"""
        self.format = None
        texts = {"orders": made(300, "o"), "items": made(70, "i")}
        for name, documents in texts.items():
            self.put(name + ".bson", b"".join(documents))
            self.load(name + ".bson", collection=name)
        own = ["orders.tipple." + end for end in ("tune", "tune.0123456789ab", "drill", "drill.tipple.loads")]
        for name in own:
            self.client.command(self.database, {"insert": name, "documents": [{"_id": 1, "k": 1}]})
        own += [name + ".tipple." + end for name in texts for end in ("files", "loads")]
        held = {name: list(map(bytes, self.client.find(self.database, name, raw=True))) for name in [*texts, *own]}
        names = {"%s.%s" % (self.database, name): len(documents) for name, documents in texts.items()}
        self.put_dump("dump/" + self.database, held)
        at = "dump/%s/%%s.bson" % self.database
        self.client.drop_database(self.database)
        self.assertEqual(names, self.each("load", "dump"))
        for name in own:
            self.assertIn("skipped %s: what tipple" % (at % name), self.stderr)
        self.assertEqual(dict.fromkeys(names, 0), self.each("load", "dump"))
        self.assertEqual({*texts, *(name + ".tipple." + end for name in texts for end in ("files", "loads"))},
                         {each["name"] for each in self.client.command(self.database, {"listCollections": 1})
                          ["cursor"]["firstBatch"]} - {"system.views"})
        self.tipple("forget", at % "orders", "--uri", self.uri("orders"))
        self.assertEqual(70, self.each("verify", "dump", status=1)[self.database + ".items"])
        self.assertEqual(300, self.load(at % "orders", collection="orders")["already_there"])
        self.assertEqual(names, self.each("verify", "dump"))
        self.load(at % "orders.tipple.files", status=1, collection="orders.tipple.files")
        self.assertIn("'orders.tipple.files' is a load's catalog", self.stderr)
        self.assertEqual(1, self.load("dump", collection="orders.tipple.tune")["loaded"])

    def test_marks_in_names(self):
        """a '!' in the name of a collection, and of its archive"""
        held = {"a!b": made(30, "o"), "a": made(20, "i"), "!": made(10, "o")}
        names = {"%s.%s" % (self.database, name): len(texts) for name, texts in held.items()}
        self.put("x!y.archive", archive({"%s.%s" % (self.database, name): texts for name, texts in held.items()}))
        self.assertEqual(names, self.each("load", "x!y.archive"))
        self.assertEqual(dict.fromkeys(names, 0), self.each("load", "x!y.archive"))
        self.assertEqual(names, self.each("verify", "x!y.archive"))
        self.assertEqual(30, self.load("x!y.archive!%s.a!b" % self.database)["loaded"])
        self.holds(held["a!b"], "x!y.archive!%s.a!b" % self.database)

    def test_each_goes_on(self):
        """what is wrong with one collection is reported by its name, and the others are loaded and verified all the same; a
        capped one is left out, with status 2"""
        self.put_dump("dump/" + self.database, {"a": made(5, "o"), "b": made(70, "i"), "c": made(8, "o")})
        self.put("dump/%s/a.metadata.json" % self.database, b'{"options": {"capped": true}}')
        self.put("dump/%s/v.metadata.json" % self.database, b'{"type": "view"}')
        self.put("dump/%s/w.metadata.json.gz" % self.database, gzip.compress(b'{"type": "timeseries"}'))
        self.assertEqual([70, 8], list(self.each("load", "dump", status=2).values())[-2:])
        for said in ("%s.a was not loaded: a capped collection throws" % self.database, "v.metadata.json: a view ",
                     "w.metadata.json.gz: a view ", "series named above"):
            self.assertIn(said, self.stderr)
        for name in ("v.metadata.json", "w.metadata.json.gz"):
            (self.folder / "dump" / self.database / name).unlink()
        self.assertEqual((0, 70), (self.client.count(self.database, "a"), self.client.count(self.database, "b")))
        self.client.command(self.database, {"delete": "b", "deletes": [{"q": {"k": 3}, "limit": 1}]})
        self.put("dump/%s/a.metadata.json" % self.database, b"{}")
        self.each("load", "dump")
        self.assertEqual([5, 69, 8], list(self.each("verify", "dump", status=7).values()))
        self.assertIn("tipple: %s.b: " % self.database, self.stderr)

    def test_each_goes_on_behind_an_index(self):
        """one that cannot be built is of one collection, too"""
        self.put_dump("dump/" + self.database, {"a": made(5, "o"), "b": made(70, "i"), "c": made(8, "o")})
        self.put("dump/%s/b.metadata.json" % self.database,
                 b'{"indexes": [{"v": 2, "key": {"nowhere": 1}, "name": "one", "unique": true}]}')
        self.each("load", "dump", status=4)
        self.assertIn("tipple: %s.b: " % self.database, self.stderr)
        self.assertEqual([5, 70, 8], [self.client.count(self.database, name) for name in "abc"])

    def test_each_ends_without_a_server(self):
        """it fails twice, and no more is tried"""
        self.put_dump("dump/" + self.database, {name: made(5, "o") for name in "abcd"})
        done = self.tipple("load", "dump", "--uri", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200", "--patience", "200ms",
                           status=4)
        self.assertIn("4 of 4", done.stderr)
        self.assertNotIn(self.database + ".c", done.stderr + done.stdout.decode())

    def test_each_refused(self):
        """what cannot be meant of all collections, and what is next to a dump: nothing is written"""
        one, more = self.database + "_x", self.database + "_y"
        self.put_dump("dump/" + one, {"a": made(5, "o")})
        self.put_dump("dump/" + more, {"b": made(5, "o")})
        for words, said in ((["dump", "--rejects", "r"], "--rejects names one file"),
                            (["dump", "--report", "r.html"], "--report is"),
                            (["dump", "--drop"], "--drop destroys")):
            self.assertEqual({}, self.each("load", *words, status=1))
            self.assertIn(said, self.stderr)
        self.each("load", "dump", path=self.database, status=1)
        self.assertRegex(self.stderr, r"several databases \(%s.[ab], %s.[ab]\)" % ((self.database + "_[xy]",) * 2))
        self.put("dump/rows.csv", b"a,b\n1,2\n")
        self.each("load", "dump", status=1)
        self.assertIn("such as dump/rows.csv", self.stderr)
        self.each("load", "dump/rows.csv", status=1)
        self.assertIn("names no collection", self.stderr)
        self.put_dump("two/x/" + one, {"a": made(5, "o")})
        self.put_dump("two/y/" + one, {"a": made(5, "o")})
        self.each("load", "two", status=1)
        self.assertIn("of the name %s.a" % one, self.stderr)
        mine = {"listDatabases": 1, "nameOnly": True, "filter": {"name": {"$regex": "^" + self.database}}}
        self.assertEqual([], self.client.command("admin", mine)["databases"])

    def test_without_documents(self):
        """a collection of a dump that has no document is known as BSON all the same, and its indexes are built"""
        self.put("d/shop/a.bson", b"")
        self.put("d/shop/a.metadata.json", INDEXES.encode())
        self.put("d.archive", archive({"shop.a": []}))
        self.format = None
        for name in ("d", "d.archive"):
            with self.subTest(name):
                self.client.drop_database(self.database)
                self.assertEqual(0, self.load(name)["read"])
                if name != "d.archive":
                    self.assertIn("by k", self.indexes())

    def options(self, collection="results"):
        """What the server lists of it."""
        reply = self.client.command(self.database, {"listCollections": 1, "filter": {"name": collection}})
        return reply["cursor"]["firstBatch"][0]["options"]

    def dump_of(self, options, texts):
        self.put("d/shop/a.bson", b"".join(texts))
        self.put("d/shop/a.metadata.json", json.dumps({"options": options, "indexes": []}).encode())

    def test_options_of_other_servers(self):
        """what this server does not make: options are refused on the empty collection, indexes after the load; the same command
        without --drop goes on"""
        for options, why in (({"ofTomorrow": True}, "ofTomorrow"), ({"validator": {"a": {"$ofTomorrow": 1}}}, "ofTomorrow")):
            self.client.drop_database(self.database)
            self.dump_of({}, [minimongo.encode({"_id": i}) for i in range(9)])
            self.load("d")
            self.dump_of(options, [minimongo.encode({"_id": i}) for i in range(5)])
            self.load("d", "--drop", "--yes", status=4)
            self.assertIn(why, self.stderr)
            self.assertIn("--drop has dropped", self.stderr)
            self.dump_of({}, [minimongo.encode({"_id": i}) for i in range(5)])
            self.load("d")
            self.assertEqual(5, self.client.count(self.database, "results"))
        for words in (["--index", '{"key": {"a": 1}, "name": "a_1", "partialFilterExpression": {"a": {"$ne": 1}}}'], ["--index", "a:text", "--index", "b:text"]):
            self.dump_of({}, [minimongo.encode({"_id": i, "a": i, "b": i}) for i in range(5)])
            self.load("d", *words, "--drop", "--yes", status=4)
            self.assertRegex(self.stderr, "could not build the index")
            self.assertEqual(5, self.client.count(self.database, "results"))
            self.load("d")

    def test_options(self):
        """a new collection is made with the options of the dump, also the second time; broken metadata is refused"""
        texts = [minimongo.encode({"_id": word, "k": i}) for i, word in enumerate(("a", "B", "c"))]
        self.dump_of({"collation": {"locale": "en", "strength": 2}, "validator": {"k": {"$lt": {"$numberInt": "2"}}},
                      "autoIndexId": True, "storageEngine": {"wiredTiger": {"configString": "block_compressor=zlib"}}}, texts)
        said = self.load("d", status=2)
        self.assertEqual((2, 1), (said["loaded"], said["rejected"]))
        made = self.options()
        self.assertEqual(("en", 2), (made["collation"]["locale"], made["collation"]["strength"]))
        self.assertEqual({"k": {"$lt": 2}}, made["validator"])
        self.assertEqual("block_compressor=zlib", made["storageEngine"]["wiredTiger"]["configString"])
        self.load("d", status=2)
        self.assertNotIn("keeps its own options", self.stderr)
        self.load("d", "--drop", "--yes", "--compressor", "none", status=2)
        self.assertEqual("block_compressor=none", self.options()["storageEngine"]["wiredTiger"]["configString"])
        self.dump_of({"clusteredIndex": {"v": 2, "key": {"_id": 1}, "name": "x", "unique": True}}, texts)
        self.load("d", collection="clustered")
        self.assertEqual("x", self.options("clustered")["clusteredIndex"]["name"])
        self.load("d", "--create", '{"clusteredIndex": false}', collection="plain")
        self.assertNotIn("clusteredIndex", self.options("plain"))
        self.load("d", "--create", '{"collation": {"locale": "fr"}}', collection="french")
        self.assertEqual(("fr", "x"), (self.options("french")["collation"]["locale"], self.options("french")["clusteredIndex"]["name"]))
        self.put("d/shop/a.metadata.json", b'{"indexes": [')
        self.load("d", status=5)
        self.assertIn("is no JSON", self.stderr)
        for metadata, said in ((b'{"options": 5}', "'options' is no document"), (b'{"indexes": 5}', "is no list"),
                               (b'{"indexes": ["a"]}', "is no document"),
                               (b'{"indexes": [{"key": {"a": 1}, "name": "%s"}]}' % (b"x" * 200), "127 bytes")):
            self.put("d/shop/a.metadata.json", metadata)
            self.load("d", status=5)
            self.assertIn(said, self.stderr)

    def test_unreadable_metadata(self):
        """metadata that are there, and cannot be read: nothing is loaded without the indexes and options that they list"""
        self.dump_of({}, [minimongo.encode({"_id": 1})])
        metadata = self.folder / "d/shop/a.metadata.json"
        metadata.unlink()
        metadata.symlink_to("a.metadata.json")  # root may read everything, but not this
        for name in ("d", "d/shop/a.bson"):
            self.refused(r"a\.metadata\.json: .*symbolic links", name, status=5)
        metadata.unlink()
        self.assertEqual(1, self.load("d/shop/a.bson")["loaded"])

    def test_operators_in_validators(self):
        """those that old Extended JSON has as types, too, are what they are for the server that listed them"""
        texts = [minimongo.encode({"_id": i, "k": "v%d" % i}) for i in range(3)]
        pattern = {"$regularExpression": {"pattern": "^v", "options": ""}}
        for number, (rule, there) in enumerate((
                ({"$type": ["string", "int"]}, {"$type": ["string", "int"]}),
                ({"$not": {"$regex": pattern, "$type": ["int"]}}, None))):
            with self.subTest(rule):
                self.dump_of({"validator": {"k": rule}}, texts)
                self.load("d", collection="c%d" % number)
                if there:
                    self.assertEqual({"k": there}, self.options("c%d" % number)["validator"])
        self.dump_of({"validator": {"k": {"$type": ["string"]}}}, texts)
        self.put("d/shop/a.metadata.json", (self.folder / "d/shop/a.metadata.json").read_bytes()[:-1] +
                 b', "collectionName": "named"}')
        self.assertEqual({"shop.named": 3}, self.each("load", "d"))
        self.client.drop_database("shop")
        for partial, status in (('{"k": {"$type": ["string", "int"]}}', 0), ('{"k": ', 1)):
            self.load("d/shop/a.bson", "--index", '{"key": {"k": 1}, "name": "p", "partialFilterExpression": %s}' % partial, status=status)

    def test_what_older_servers_have_told(self):
        """the name of the collection among its options, and the clustered index, which may have any name, among its indexes"""
        texts = [minimongo.encode({"_id": i, "k": i}) for i in range(3)]
        self.dump_of({"create": "a", "temp": True}, texts)
        self.load("d", collection="old")
        key = {"v": 2, "key": {"_id": 1}, "name": "mine", "unique": True}
        self.put("d/shop/a.metadata.json", json.dumps({"options": {"clusteredIndex": key},
                                                       "indexes": [{**key, "clustered": True}]}).encode())
        for words in ((), ("--create", '{"clusteredIndex": false}')):
            self.load("d", *words, collection="clustered%d" % len(words))

    def test_names_of_files(self):
        """an older mongodump gives the name of a collection by that of its file alone, where some signs are %2F; a name that is not
        written like that is taken as it is"""
        names = {"st\u00e4dte": "st%C3%A4dte", "a/b": "a%2Fb", "90%x": "90%x", "%00": "%00", "plain": "plain"}
        self.put_dump("dump/" + self.database, {file: made(3, "o") for file in names.values()})
        self.assertEqual({"%s.%s" % (self.database, name): 3 for name in names}, self.each("load", "dump"))
        self.put("dump/%s/%s.metadata.json" % (self.database, "plain"), b'{"collectionName": "a%20c"}')
        self.put("dump/%s/v.metadata.json" % self.database, b'{"options": {"viewOn": "plain", "pipeline": []}, "indexes": []}')
        self.put("dump/%s/system.js.bson" % self.database, b"")
        self.assertIn(self.database + ".a%20c", self.each("load", "dump", status=2))
        self.assertRegex(self.stderr, r"skipped \S+/system\.js\.bson: .*\n.*skipped \S+/v\.metadata\.json: a view")
        self.put_dump("dump/" + self.database, {"system": made(3, "o")})
        self.each("load", "dump", status=1)
        self.assertIn("tipple: %s.system: " % self.database, self.stderr)

    def test_indexes_keep_their_order(self):
        """an index that has no collation gets none of its new collection, whose texts are equal in another sense"""
        texts = [minimongo.encode({"_id": i, "n": name, "t": name}) for i, name in enumerate(("Ann", "ann"))]
        german = {"locale": "de", "strength": 1}
        indexes = [{"v": 2, "key": {"_id": 1}, "name": "_id_", "collation": {"locale": "en", "strength": 2}},
                   {"v": 2, "key": {"n": 1}, "name": "n", "unique": True},
                   {"v": 2, "key": {"n": 1}, "name": "g", "collation": german},
                   {"v": 2, "key": {"n": "hashed"}, "name": "h"},
                   {"v": 2, "key": {"p": "2d"}, "name": "p"},
                   {"v": 2, "key": {"_fts": "text", "_ftsx": 1}, "name": "words", "weights": {"t": 1}}]
        self.put("d/shop/a.bson", b"".join(texts))
        for options, collection in (({"collation": {"locale": "en", "strength": 2}}, "collated"), ({}, "plain")):
            self.put("d/shop/a.metadata.json", json.dumps({"options": options, "indexes": indexes}).encode())
            for _ in range(2):
                self.load("d", "--index", "t:1", collection=collection)
            found = self.indexes(collection)
            self.assertEqual({"_id_", "n", "g", "h", "p", "words", "t_1"}, set(found))
            self.assertEqual("de", found["g"]["collation"]["locale"])
            for name in ("n", "h", "p", "words"):
                self.assertNotIn("collation", found[name])
            self.assertEqual(bool(options), "collation" in found["t_1"])  # as a shell makes it

    def test_indexes_of_one_name(self):
        """an index of the dump is not left out for another one of its name"""
        def indexes(**more):
            return json.dumps({"indexes": [{"v": 2, "key": {"k": 1}, "name": "x", **more}]}).encode()
        texts = [minimongo.encode({"_id": i, "k": i, "m": -i}) for i in range(9)]
        for name in ("a", "b"):
            self.put("%s/shop/a.bson" % name, b"".join(texts[:5] if name == "a" else texts[5:]))
            self.put("%s/shop/a.metadata.json" % name, indexes())
        self.load("a", "--index", "m:1;name=x", status=1)
        self.assertRegex(self.stderr, "--index m:1;name=x: a/.* x, with other keys")
        self.assertEqual(0, self.client.count(self.database, "results"))
        self.load("a", "--index", "k:1;name=x;unique")
        self.assertIn("index x is built", self.stderr)
        self.assertTrue(self.indexes()["x"]["unique"])
        self.load("a", "b", collection="both")
        self.assertNotIn("--index says", self.stderr)
        self.put("b/shop/a.metadata.json", indexes(unique=True))
        self.load("a", "b", status=1, collection="other")
        self.assertIn("the index x is in", self.stderr)

    def test_options_refused(self):
        """a collection that throws documents away is not made, and nothing is dropped; one that was made by hand is taken"""
        texts = made(5, "o")
        self.put("plain.bson", b"".join(texts))
        self.load("plain.bson")
        for options, said in (({"capped": True, "size": {"$numberInt": "4096"}}, "capped collection throws"),
                              ({"clusteredIndex": {"v": 2, "key": {"_id": 1}, "unique": True},
                                "expireAfterSeconds": {"$numberInt": "5"}}, "by their age")):
            with self.subTest(said=said):
                self.dump_of(options, texts)
                for words in (["--drop", "--yes"], ["--drop", "--dry-run"]):
                    self.load("d", *words, status=1)
                    self.assertIn(said, self.stderr)
                    self.assertEqual(5, self.client.count(self.database, "results"))
                self.load("d", collection="other", status=1)
                self.client.command(self.database, {"create": "other"})
                self.assertEqual(5, self.load("d", collection="other")["loaded"])
                self.assertIn("keeps its own options", self.stderr)
                self.client.command(self.database, {"drop": "other"})
                self.client.command(self.database, {"drop": "other.tipple.files"})
                self.client.command(self.database, {"drop": "other.tipple.loads"})

    @livetest.nightly
    def test_real(self):
        """what the real mongodump writes, read back; and mongorestore of what --emit bson writes"""
        dump, restore = mongotools.program("mongodump"), mongotools.program("mongorestore")
        if not dump or not restore:
            print("skipped: mongodump and mongorestore cannot be built here")
            return
        self.client.command(self.database, {"create": "orders", "validator": {"k": {"$gte": 0}},
                                            "collation": {"locale": "en", "strength": 2}})
        for name, count in (("orders", 3000), ("items", 20000)):
            for at in range(0, count, 1000):
                self.client.command(self.database, {"insert": name, "documents": [
                    {"_id": i, "k": i, "s": "x" * (i * 31 % 500)} for i in range(at, at + 1000)]})
        uri = os.environ["TIPPLE_TEST_URI"]
        quiet = ["--quiet", "--uri", uri, "--db", self.database]
        subprocess.run([dump, *quiet, "-j", "4", "--archive=" + str(self.folder / "a")], check=True)
        subprocess.run([dump, *quiet, "--gzip", "--archive=" + str(self.folder / "a.gz")], check=True)
        subprocess.run([dump, *quiet, "-o", self.folder / "real"], check=True)
        for name in ("orders", "items"):
            texts = list(self.client.find(self.database, name, raw=True))
            for given in ("a!%s.%s" % (self.database, name), "a.gz!%s.%s" % (self.database, name),
                          "real/%s/%s.bson" % (self.database, name)):
                with self.subTest(given=given):
                    out = subprocess.run([os.environ["TIPPLE"], "parse", "-q", "-f", "bson", "--emit", "bson", given], cwd=self.folder, check=True, stdout=subprocess.PIPE).stdout
                    self.assertEqual(sorted(map(bytes, texts)), sorted(split(out)))
                    into = "from_" + given.replace(".", "_").replace("/", "_").replace("!", "_")
                    self.assertEqual(len(texts), self.load(given, collection=into)["loaded"])
                    self.assertEqual(self.options(name), self.options(into))
                    self.assertEqual(sorted(map(bytes, texts)),
                                     sorted(map(bytes, self.client.find(self.database, into, raw=True))))
                    said = json.loads(self.tipple("verify", "-f", "bson", "--uri", self.uri(into), "--json",
                                                  given).stdout)
                    self.assertEqual(len(texts), said["as_expected"])
        self.put("again.bson", out)
        subprocess.run([restore, "--quiet", "--uri", uri, "--db", self.database, "--collection", "again",
                        self.folder / "again.bson"], check=True)
        self.assertEqual(sorted(map(bytes, texts)),
                         sorted(map(bytes, self.client.find(self.database, "again", raw=True))))
        subprocess.run([dump, *quiet, "--archive=" + str(self.folder / "whole")], check=True)
        subprocess.run([dump, *quiet, "-o", self.folder / "all"], check=True)
        names = self.client.command(self.database, {"listCollections": 1, "nameOnly": True, "cursor": {"batchSize": 999}})
        names = {self.database + "." + each["name"] for each in names["cursor"]["firstBatch"] if ".tipple." not in each["name"]}
        self.assertEqual(9, len(names))
        for whole in ("whole", "all"):
            self.client.drop_database(self.database)
            self.assertEqual(names, set(self.each("load", whole)))
            self.assertEqual(names, set(self.each("verify", whole)))


if __name__ == "__main__":
    livetest.main()
