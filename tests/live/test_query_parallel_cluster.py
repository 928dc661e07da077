"""tipple query --parallel through routers: ranges over shards, as of one moment of the cluster.  needs: cluster"""
import random

import live
import livecluster
import liveparallel
import livetest
import minimongo as mongo
from livetest import NIGHTLY
from minimongo import Int64


class Sharded(liveparallel.Moments, livecluster.Cluster):

    def setUp(self):
        super().setUp()
        self.admin({"enableSharding": self.database})

    def admin(self, command):
        return self.client.command("admin", command)

    def shard(self, collection, middle, key=None, clustered=True):
        """Half of the collection on each shard, whatever is in it later."""
        namespace = "%s.%s" % (self.database, collection)
        self.make(collection, clustered)
        self.admin({"shardCollection": namespace, "key": key or {"_id": 1}})
        if key:
            return
        self.admin({"split": namespace, "middle": {"_id": middle}})
        first = self.chunks(collection)[0]["shard"]
        other, = [name for name in self.names() if name != first]
        self.admin({"moveChunk": namespace, "find": {"_id": middle}, "to": other})

    def on_both(self, collection):
        self.assertTrue(all(self.on_shard(name, collection, limit=1) for name in self.names()), collection)

    def test_answers(self):
        """random pipelines over random documents on two shards, _ids of every kind"""
        for number, kind in enumerate(liveparallel.KINDS):
            draw = random.Random(number)
            ids = sorted(liveparallel.ids(kind, 300, random.Random(300 + number)),
                         key=lambda each: (str(type(each)), str(each)))
            self.shard(kind, ids[len(ids) // 2])
            numbers = self.fill(kind, kind, 300, 300 + number)
            self.on_both(kind)
            for each in self.agree(kind, [liveparallel.pipeline(draw, numbers) for _ in range(10 if NIGHTLY else 6)]):
                whole = each["whole_because"] or ""
                self.assertTrue(each["parallel"] == "off" or each["ranges"] > 1 or "several types" in whole or
                                "left 64 bits" in whole, each)

    def test_by_a_hash(self):
        """sharded by another field: ranges are exact there, too, but auto does not take them"""
        self.shard("results", None, key={"n": "hashed"}, clustered=False)
        numbers = self.fill("results", "positions", 300, 9)
        self.on_both("results")
        draw = random.Random(9)
        pipelines = [liveparallel.pipeline(draw, numbers) for _ in range(10)]
        self.agree("results", pipelines)
        each, = self.agree("results", [[{"$count": "n"}]], parallel="auto")
        self.assertIn("not sharded by _id", each["whole_because"])

    def test_auto(self):
        """ranges where the shards' hosts have more cores than there are shards, and there is much to read"""
        self.shard("results", Int64(1 << 62))
        host = self.client.command("admin", {"hostInfo": 1})["system"]
        cores = min(host["numCores"], host.get("numCoresAvailableToProcess", host["numCores"]), 16)
        at = 0
        for size in (60000, 540000):
            while at < size:
                self.client.insert(self.database, "results", [
                    {"_id": Int64(int("{:020b}".format(number)[::-1], 2) << 43 | number), "n": number % 7}
                    for number in range(at, at + 60000)], ordered=False)
                at += 60000
            each, = self.agree("results", [[{"$group": {"_id": "$n", "all": {"$sum": 1}}}]], parallel="auto")
            self.assertEqual(min(2 * cores, 16) if cores > 2 and size > 500000 else 1, each["ranges"])
            if size < 500000:
                self.assertIn("fewer than 500000 documents", each["whole_because"])
            elif cores <= 2:
                self.assertIn("cores (%d) busy" % cores, each["whole_because"])

    def test_one_moment(self):
        """while documents come in on both shards, what is seen is what was there at one moment"""
        self.shard("results", Int64(1 << 62))
        self.one_moment()

    def test_what_came_by_another_router(self):
        """a moment is not before what was written through another router"""
        self.shard("results", Int64(1 << 62))
        self.client.insert(self.database, "results", [{"_id": Int64(number << 50)} for number in range(8000)])
        self.suite([[{"$count": "n"}]])
        hosts = live.URI.partition("//")[2].partition("/")[0].split(",")
        one, other = ("mongodb://%s/?" % host for host in hosts)
        with mongo.Client(one) as client:
            for number in range(15 if NIGHTLY else 5):
                client.insert(self.database, "results", [{"_id": Int64(number % 2 << 62 | number << 1 | 1)}])
                each, = self.query("results", "--parallel", 2, "--uri",
                                   live.with_path(other, self.database + ".results"))
                self.assertEqual([{"n": 8001 + number}], each["result"])
                self.assertEqual(2, each["ranges"])


if __name__ == "__main__":
    livetest.main()
