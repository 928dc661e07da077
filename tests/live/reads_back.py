"""The client that the tests read collections back with is right itself: every type, many batches, the server's hash.
needs: standalone; nightly on: replset"""
import hashlib

import live
import minimongo as mongo


class ReadsBack(live.Case):
    def test_every_type(self):
        document = {
            "_id": 1, "int64": mongo.Int64(1), "double": 1.5, "text": "ü\0x", "binary": mongo.Binary(b"\0\xff", 4),
            "date": mongo.Date(-1), "document": {"x": {}}, "array": [1, [2, {"z": None}], True], "null": None,
            "false": False, "oid": mongo.ObjectId(b"123456789012"), "time": mongo.Timestamp(5 << 32 | 6),
            "regex": mongo.Regex(("a.*", "i")), "code": mongo.Code("x"), "least": mongo.MinKey,
            "most": mongo.MaxKey, "infinite": float("inf"), "nothing": -0.0, "large": 1e300, "tiny": 5e-324,
            "decimal": mongo.Decimal128.parse("-1.50E+12")}
        self.client.insert(self.database, "types", [document])
        raw, = self.client.find(self.database, "types", raw=True)
        self.assertEqual(raw, mongo.encode(document))
        self.assertEqual(mongo.decode(raw), document)
        self.assertEqual(raw, mongo.encode(mongo.parse_extended(mongo.extended_line(document))))
        names = next(self.client.aggregate(self.database, "types", [{"$project": {
            "_id": 0, "int64": {"$type": "$int64"}, "date": {"$type": "$date"}, "decimal": {"$toString": "$decimal"},
            "iso": {"$toString": "$date"}}}]))
        self.assertEqual(names, {"int64": "long", "date": "date", "decimal": "-1.50E+12",
                                 "iso": document["date"].iso()})

    def test_many_batches_and_the_servers_own_hash(self):
        for start in range(0, 30000, 10000):
            self.client.insert(self.database, "many", [{"_id": number, "pad": "x" * 900}
                                                       for number in range(start, start + 10000)])
        raw = self.documents("many", raw=True)
        self.assertEqual(len(raw), 30000)
        self.assertEqual(self.client.count(self.database, "many"), 30000)
        hashes = self.client.command(self.database, {"dbHash": 1})["collections"]
        self.assertEqual(hashes["many"], hashlib.md5(b"".join(raw)).hexdigest())

    def test_refusals(self):
        self.client.insert(self.database, "once", [{"_id": 1}])
        with self.assertRaisesRegex(mongo.CommandError, "E11000"):
            self.client.insert(self.database, "once", [{"_id": 1}])
        with self.assertRaisesRegex(mongo.CommandError, "no such command"):
            self.client.command(self.database, {"nonsense": 1})
        with self.assertRaisesRegex(mongo.Error, "key twice"):
            mongo.decode(b"\x13\0\0\0\x10a\0\1\0\0\0\x10a\0\1\0\0\0\0")


live.main()
