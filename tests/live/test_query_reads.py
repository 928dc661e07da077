"""Who answers the queries of a replica set of three while it is loaded: its primary, or its secondaries.
needs: replset3; locks: replset3"""
import json
import re

import live
import livetest
import minimongo as mongo
from livetest import rows

SUITE = """suite: reads
queries:
  - name: point
    draw: {gives: [id], pipeline: [{$sample: {size: 100}}, {$project: {_id: 0, id: $_id}}]}
    find: {filter: {_id: {$param: id}}}
  - name: near
    pipeline: [{$match: {t: {$gt: 0}}}, {$count: n}]
"""


class Reads(livetest.Case):
    def setUp(self):
        super().setUp()
        self.write("x.yaml", SUITE)
        self.write("a.csv", rows(2000))
        self.load("a.csv")

    def finds(self):
        """By member: finds that it was asked since it began, and whether it is the primary."""
        found = {}
        hello = self.client.command("admin", {"hello": 1})
        for host in hello["hosts"]:
            with mongo.Client("mongodb://%s/?directConnection=true" % host) as client:
                found[host] = client.command("admin", {"serverStatus": 1})["opcounters"]["query"]
        return found, hello["primary"]

    def query(self, *words, status=0, uri=None):
        done = self.tipple("query", "--suite", "./x.yaml", "--uri", uri or self.uri(), "--json", *words, status=status)
        self.stderr = done.stderr
        return json.loads(done.stdout)["queries"]

    def asked(self, *words):
        """How many finds the primary got, and how many the others, while that many were measured."""
        before, primary = self.finds()
        measured = self.query(*words)
        after, still = self.finds()
        self.assertEqual(primary, still)
        more = {host: after[host] - before[host] for host in before}
        return measured, more.pop(primary), sum(more.values())

    def test_who_is_asked(self):
        """--read-preference: each is a measurement of its own, and goes where it says"""
        words = ("point", "--count", 300, "--repeats", 1, "--warmup", 0)
        (each,), primary, others = self.asked(*words, "--read-preference", "secondary")
        self.assertEqual(("secondary", 300), (each["reads"], each["n"]))
        self.assertGreaterEqual(others, 300)
        self.assertLess(primary, 100)  # the books' and the monitors' own
        (each,), primary, others = self.asked(*words, "--read-preference", "primary")
        self.assertEqual(("primary", 300), (each["reads"], each["n"]))
        self.assertGreaterEqual(primary, 300)
        self.assertLess(others, 100)
        both, primary, others = self.asked(*words, "--read-preference", "primary,secondary", "--clients", "1,3")
        self.assertEqual([("primary", 1, 300), ("primary", 3, 900), ("secondary", 1, 300), ("secondary", 3, 900)],
                         [(each["reads"], each["clients"], each["n"]) for each in both])
        self.assertGreaterEqual(primary, 1200)
        self.assertGreaterEqual(others, 1200)

    def test_staleness(self):
        """the URI's maxStalenessSeconds holds for all that --read-preference says, but not for the primary"""
        for host in self.finds()[0]:  # the slowest has it all
            with mongo.Client("mongodb://%s/?directConnection=true" % host) as client:
                anyone = {"$readPreference": {"mode": "secondaryPreferred"}}
                self.assertTrue(livetest.wait_for(lambda: [{"n": 2000}] == list(client.aggregate(
                    self.database, "results", [{"$count": "n"}], **anyone))))
        stale = self.uri() + "&readPreference=nearest&maxStalenessSeconds=100"
        each, = self.query("near", "--repeats", 2, uri=stale)
        self.assertEqual([{"n": 2000}], each["result"])
        both = self.query("point", "--read-preference", "primary,secondary", "--repeats", 1, "--count", 20, uri=stale)
        self.assertEqual([("primary", 0), ("secondary", 0)], [(each["reads"], each["failures"]) for each in both])

    @livetest.nightly
    def test_while_it_is_loaded(self):
        """primary next to secondaries while a load runs, which is started and stopped here"""
        self.write("b.csv", rows(200000, 2))
        load = "%s load -q --format mot --uri '%s' --max-rate 4k b.csv" % (live.TIPPLE, self.uri("others"))
        words = ("point", "--read-preference", "primary,secondary", "--clients", "1,2", "--duration", "1s", "--repeats", 2)
        measured = self.query(*words, "--while", load)
        self.assertEqual(4, len(measured))
        self.assertEqual([], [each["failure"] for each in measured if each["failures"]])
        loaded = self.client.count(self.database, "others")
        self.assertGreater(loaded, 0)
        self.assertLess(loaded, 200000)
        ended = list(self.client.find(self.database, "others.tipple.loads"))[0]
        self.assertEqual(143, ended["status"], "it was asked to end, and closed its books")
        text = self.tipple("query", "--suite", "./x.yaml", "--uri", self.uri(), *words).stdout.decode()
        self.assertEqual(["primary", "primary, 2 clients", "secondary", "secondary, 2 clients"],
                         sorted(re.findall(r"(?m)^point, (\w+(?:, 2 clients)?) +[\d,]+ ", text)))


if __name__ == "__main__":
    livetest.main()
