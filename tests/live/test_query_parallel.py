"""tipple query --parallel: ranges answer what the whole answers, which another client asks the server itself.
needs: replset; nightly on: standalone; locks: failpoints"""
import random
import signal
import subprocess
import threading
import unittest

import live
import liveparallel
import livetest
import minimongo as mongo
import relay
from livetest import NIGHTLY, SOAK
from minimongo import Int64


class Answers(liveparallel.Case):
    """Random pipelines over random documents."""

    def all_kinds(self, clustered, seed):
        whole = 0
        for number, kind in enumerate(liveparallel.KINDS):
            draw = random.Random(seed * 100 + number)
            self.make(kind, clustered)
            numbers = self.fill(kind, kind, 400 if NIGHTLY else 200, seed * 100 + number)
            pipelines = [liveparallel.pipeline(draw, numbers) for _ in range(40 if SOAK else 16 if NIGHTLY else 8)]
            for each in self.agree(kind, pipelines):
                if each["parallel"] == "off":
                    continue
                self.assertEqual(each["ranges"] == 1, each["whole_because"] is not None)
                if kind == "mixed":
                    self.assertIn("of several types", each["whole_because"])
                elif each["ranges"] == 1:
                    self.assertIn("left 64 bits", each["whole_because"])
                    whole += 1
                else:
                    self.assertEqual(int(each["parallel"]), each["ranges"])
        self.assertGreater(whole, 0)  # else no sum overflowed

    def test_clustered(self):
        """clustered collections, _ids of every kind"""
        self.all_kinds(True, 1)

    def test_plain(self):
        """plain collections: documents do not lie in the order of their _ids"""
        self.all_kinds(False, 2)

    def test_few(self):
        """fewer documents than ranges, and none that is found"""
        self.make("results", True)
        for count in range(1, 8):
            self.client.insert(self.database, "results", [{"_id": count, "x": count * 0.5, "k": "$k"}])
            self.agree("results", [
                [{"$group": {"_id": "$k", "x": {"$avg": "$x"}}}], [{"$count": "n"}],
                [{"$match": {"x": -1}}, {"$count": "n"}], [{"$match": {"x": -1}}, {"$group": {"_id": None}}],
                [{"$match": {"x": -1}}, {"$group": {"_id": "$k"}}, {"$facet": {"a": [{"$count": "n"}]}}]])

    def test_overflow(self):
        """sums that leave 64 bits in a range, in the merge, or come back into them"""
        top = 2**63 - 1
        for name, sums in (("range", (top, 1, -top, -5)), ("merge", (top - 5, 3, 7, 100)), ("back", (top, 7, 9, -30)),
                           ("below", (-top, -1, -1, -1)), ("not", (top, 0, 0, -3))):
            self.make(name, True)
            self.client.insert(self.database, name, [
                {"_id": number, "w": Int64(each), "k": number % 2} for number, each in enumerate(sums)])
            measured = self.agree(name, [
                [{"$group": {"_id": None, "all": {"$sum": "$w"}, "mean": {"$avg": "$w"}}}],
                [{"$group": {"_id": "$k", "all": {"$sum": "$w"}}}]], parallel="2")
            # the ranges are the first two and the last two
            self.assertEqual(name in ("range", "back"), measured[0]["ranges"] == 1, name)

    def test_options(self):
        """a hint at _id, variables, a read concern, a limit of time: they go along"""
        self.make("results", True)
        self.fill("results", "positions", 300, 5)
        stages = [{"$match": {"$expr": {"$lt": ["$n", "$$most"]}}}, {"$group": {"_id": "$n", "f": {"$sum": "$f"}}},
                  {"$set": {"most": "$$most"}}]
        for options in ({}, {"hint": {"_id": 1}}, {"hint": {"$natural": 1}}, {"batchSize": 2}, {"allowDiskUse": True},
                        {"maxTimeMS": 60000}, {"collation": {"locale": "simple"}}):
            for each in self.agree("results", [stages], let={"most": 5}, **options):
                self.assertIsNone(each["whole_because"])

    def test_groups(self):
        """more groups than the server takes to be merged"""
        self.make("results", True)
        for size in (900, 2300):  # more than is sent, more than one batch
            self.client.command(self.database, {"delete": "results", "deletes": [{"q": {}, "limit": 0}]})
            for at in range(0, 15000, 5000):
                self.client.insert(self.database, "results",
                                   [{"_id": at + i, "k": "%0*d" % (size, at + i)} for i in range(5000)])
            each, = self.agree("results", [[{"$group": {"_id": "$k", "n": {"$sum": 1}}}, {"$count": "groups"}]],
                               parallel="2")
            self.assertIn("too many groups", each["whole_because"])


class Choices(liveparallel.Case):
    """What is split, and what is not."""
    GROUP = {"$group": {"_id": "$n", "all": {"$sum": "$f"}}}

    def setUp(self):
        super().setUp()
        self.make("results", True)
        self.fill("results", "positions", 300, 3)

    def refused(self, stages, *said, collection="results", **options):
        """--parallel 3 refuses, auto runs it whole and says the same."""
        self.suite([stages], **options)
        self.query(collection, "--parallel", 3, status=1)
        for words in said:
            self.assertIn(words, self.stderr)
        each, = self.query(collection, "--parallel", "auto")
        self.assertEqual(1, each["ranges"])
        for words in said:
            self.assertIn(words, each["whole_because"])
        wanted = list(self.client.aggregate(self.database, collection, stages, **options))
        self.assertEqual(([], []), liveparallel.differing(each["result"], wanted))

    def test_refused(self):
        """what cannot be split exactly is refused with the stage's name, and auto runs it whole"""
        lookup = {"$lookup": {"from": "results", "localField": "n", "foreignField": "x", "as": "others"}}
        self.refused([{"$match": {}}, lookup, self.GROUP], "stage 2, $lookup,")
        self.refused([{"$sort": {"_id": 1}}, {"$limit": 5}, self.GROUP], "stage 1, $sort,")
        self.refused([{"$group": {"_id": None, "all": {"$addToSet": "$missing"}}}], "stage 1, $group,", "$addToSet")
        self.refused([self.GROUP, {"$unionWith": "other"}], "stage 2, $unionWith,")
        now = {"$match": {"$expr": {"$lt": [{"$year": "$$NOW"}, 1970]}}}
        self.refused([now, self.GROUP], "stage 1, $match,", "$$NOW")
        self.refused([{"$match": {"n": 1}}, {"$project": {"n": 1}}], "it has no $group")

    def test_refused_options(self):
        """hints and collations; views"""
        self.client.command(self.database, {"createIndexes": "results", "indexes": [{"key": {"n": 1}, "name": "n_1"}]})
        self.refused([self.GROUP], "'hint'", hint="n_1")
        self.refused([self.GROUP], "'collation'", collation={"locale": "en", "strength": 1})
        self.client.command(self.database, {"create": "view", "viewOn": "results", "pipeline": [{"$match": {"n": 1}}]})
        self.refused([self.GROUP], "is a view", collection="view")
        self.client.command(self.database, {"create": "folded", "collation": {"locale": "en", "strength": 1}})
        self.fill("folded", "texts", 100, 4)
        self.refused([{"$group": {"_id": "$k"}}, {"$count": "n"}], "has a collation", collection="folded")

    def test_auto(self):
        """as many ranges as the server has cores, where it is large enough, clustered, and no index finds less"""
        self.suite([[self.GROUP]])
        each, = self.query("results", "--parallel", "auto")
        self.assertIn("fewer than 50000 documents", each["whole_because"])
        host = self.client.command("admin", {"hostInfo": 1})["system"]
        cores = min(host["numCores"], host.get("numCoresAvailableToProcess", host["numCores"]), 16)
        self.make("clustered", True)
        self.make("plain", False)
        for name in ("clustered", "plain"):
            for at in range(0, 60000, 20000):
                self.client.insert(self.database, name, [
                    {"_id": number, "n": number % 7, "f": number * 0.5, "k": number % 1000}
                    for number in range(at, at + 20000)])
        each, = self.agree("clustered", [[self.GROUP]], parallel="auto")
        wanted = min(2 * cores, 16) if cores > 1 else 1  # two a core
        self.assertEqual(wanted, each["ranges"])
        if cores == 1:
            return
        each, = self.agree("plain", [[self.GROUP]], parallel="auto")
        self.assertTrue(each["ranges"] == wanted or "a probe of 50000 documents took" in each["whole_because"], each)
        index = {"key": {"k": 1}, "name": "k_1"}
        self.client.command(self.database, {"createIndexes": "clustered", "indexes": [index]})
        each, = self.agree("clustered", [[{"$match": {"k": 5}}, self.GROUP]], parallel="auto")
        self.assertIn("index k_1", each["whole_because"])

    def test_explain(self):
        """the plan: ranges, what each runs, the merge, whether all see one moment"""
        self.suite([[{"$match": {"x": 1}}, self.GROUP, {"$sort": {"_id": 1}}]])
        moment = {"standalone": "its own moment", "replset": "one moment"}[live.KIND]
        text = self.explained("results", "--parallel", "2")
        self.assertIn("parallel  2 ranges", text)
        self.assertIn(moment, text)
        middle = '{ "_id" : { "$lt" : 4611686018427387904 } }'  # the middle of the lanes
        self.assertIn("range 1   " + middle, text)
        self.assertIn("range 2   " + middle.replace("$lt", "$gte"), text)
        self.assertIn('each      [ { "$match" : { "x" : 1 } }, '
                      '{ "$group" : { "_id" : "$n", "s0" : { "$sum" : "$f" } } } ]', text)
        self.assertIn('merged by [ { "$group" : { "_id" : "$_id", "all" : { "$sum" : "$s0" } } }, '
                      '{ "$sort" : { "_id" : 1 } } ]', text)
        self.assertIn("fewer than 50000 documents", self.explained("results", "--parallel", "auto"))
        self.suite([[self.GROUP]], readConcern="local")
        self.assertIn("its own moment", self.explained("results", "--parallel", "2"))
        self.suite([[{"$count": "n"}]])
        self.assertNotIn("rounding", self.explained("results", "--parallel", "2"))

    def test_types_that_came(self):
        """documents whose _ids are of another type came after the cuts were made: they count"""
        self.suite([[{"$count": "n"}]])
        for late in ("late", float("nan"), None):
            insert = {"insert": "results", "documents": [{"_id": late}]}
            each, = self.query("results", "--parallel", 4, "--cold", self.script(self.database, insert))
            self.assertEqual([{"n": 301}], each["result"])
            self.assertIn("another type", each["whole_because"])
            self.client.command(self.database, {"delete": "results", "deletes": [{"q": {"_id": late}, "limit": 1}]})

    def test_failures(self):
        """what a range is told is what is told"""
        self.suite([[{"$group": {"_id": {"$divide": [1, {"$subtract": ["$n", "$n"]}]}}}]])
        each, = self.query("results", "--parallel", 3, status=4)
        self.assertIn("divide by zero", each["failure"])
        self.assertEqual((0, 1), (each["n"], each["failures"]))


@unittest.skipIf(live.KIND == "standalone", "a standalone has no moments")
class Moments(liveparallel.Moments):
    """All ranges see one moment."""

    def test_one_moment(self):
        """while documents come in at both ends, what is seen is what was there at one moment"""
        self.make("results", True)
        self.one_moment()


class Failpoints(liveparallel.Case):
    """What only a server with test commands does when it is asked to."""

    def setUp(self):
        super().setUp()
        self.make("results", True)
        self.fill("results", "positions", 300, 3)
        self.suite([[{"$group": {"_id": "$n", "all": {"$sum": "$f"}}}]])
        off = {"configureFailPoint": "failCommand", "mode": "off"}
        try:
            self.client.command("admin", off)
        except mongo.CommandError:
            self.skipTest("this server has no test commands")
        self.addCleanup(self.client.command, "admin", off)

    def failing(self, times, **data):
        """Before each round, so after the ranges were planned. Only this test: others ask the same server."""
        return self.script("admin", {"configureFailPoint": "failCommand", "mode": {"times": times}, "data": {
            "failCommands": ["aggregate"], "namespace": self.database + ".results", "appName": "tipple", **data}})

    def right(self, each):
        stages = [{"$group": {"_id": "$n", "all": {"$sum": "$f"}}}]
        wanted = list(self.client.aggregate(self.database, "results", stages))
        self.assertEqual(([], []), liveparallel.differing(each["result"], wanted))

    def test_moment_gone(self):
        """a moment that is too old: once more as of a newer one, then without; standalones have none to lose"""
        for times, code in ((1, 239), (2, 246), (4, 239)):
            status = 4 if live.KIND == "standalone" else 0
            each, = self.query("results", "--parallel", 2, "--cold", self.failing(times, errorCode=code), status=status)
            if not status:
                self.right(each)
                self.assertEqual(2, each["ranges"])
        if live.KIND != "standalone":
            said = self.tipple("query", "--suite", "./x.yaml", "--uri", self.uri(), "--repeats", 1, "--parallel", 2,
                               "--cold", self.failing(4, errorCode=239)).stdout.decode()
            self.assertIn("not exact", said)

    def test_part_fails(self):
        """one range fails: so does the request, with its words"""
        each, = self.query("results", "--parallel", 3, "--cold", self.failing(1, errorCode=8000), status=4)
        self.assertIn("failCommand", each["failure"])
        self.assertEqual((0, 1), (each["n"], each["failures"]))

    def test_interrupted(self):
        """a signal ends the waiting for ranges"""
        held, gate = [], threading.Event()

        def rule(message):
            """No range is answered, once they were planned."""
            if message.reply and (message.command, message.collection) == ("aggregate", "results") \
                    and (self.folder / "planned").exists():
                held.append(message)
                return gate
            return relay.PASS
        hosts = live.URI.partition("://")[2].partition("/")[0].rpartition("@")[2].split(",")
        with relay.Relays([int(host.rpartition(":")[2]) for host in hosts], rule) as relays:
            self.addCleanup(gate.set)
            running = subprocess.Popen(self.command("query", "--suite", "./x.yaml", "--uri", relays.rename(self.uri()),
                                                    "--parallel", 2, "--cold", "touch planned"),
                                       cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertTrue(livetest.wait_for(lambda: held or running.poll() is not None))
            running.send_signal(signal.SIGINT)
            _, said = running.communicate(timeout=livetest.LONG)
            self.assertEqual(-signal.SIGINT, running.returncode)
            self.assertNotIn(b"not end in time", said)
            self.assertTrue(held)


if __name__ == "__main__":
    livetest.main()
