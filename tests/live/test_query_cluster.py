"""The built-in suites where data lie on several members: a replica set of 3; 2 shards behind routers.
needs: none; locks: replset3"""
import livecluster
import livequery
import livetest


@livetest.nightly
class Members(livequery.Suites, livetest.Case):
    server = "replset3"

    def on_all(self):
        """Waits until every member has what was written."""
        self.client.command(self.database, {"insert": "marks", "documents": [{"n": 1}],
                                            "writeConcern": {"w": 3, "wtimeout": 600000}})

    def test_mot(self):
        """mot on a replica set of 3: every query"""
        self.check_mot()

    def test_isd(self):
        """isd on a replica set of 3: every query"""
        self.check_isd()

    def test_obd(self):
        """obd on a replica set of 3: one field in many ways"""
        self.check_obd()

    def test_ycsb(self):
        """ycsb on a replica set of 3: every query"""
        self.check_ycsb()

    def test_secondaries(self):
        """primary and secondary, side by side: the same answers"""
        rows = self.fill_mot()
        self.on_all()
        said = self.query("mot", "greenness", "by-age", "--read-preference", "primary,secondary")
        self.assertEqual([(name, reads) for name in ("greenness", "by-age") for reads in ("primary", "secondary")],
                         [(entry["name"], entry["reads"]) for entry in said["queries"]])
        for entry in said["queries"]:
            self.same(livequery.answers_mot.QUERIES[entry["name"]](rows), entry["result"], entry["name"])


class Shards(livequery.Suites, livecluster.Cluster):

    def spread(self):
        for name in self.names():
            with self.shard_client(name) as shard:
                self.assertTrue(shard.count(self.database, "results") > 0, "nothing lies on the shard %s" % name)

    def test_mot(self):
        """mot on 2 shards, sharded on _id: every query"""
        self.check_mot()
        self.spread()

    @livetest.nightly
    def test_isd(self):
        """isd on 2 shards, a station on one of them: every query"""
        self.check_isd("--shard-key", "st:hashed")
        self.spread()

    @livetest.nightly
    def test_obd(self):
        """obd on 2 shards: all documents"""
        self.check_obd_spread()
        self.spread()

    @livetest.nightly
    def test_ycsb(self):
        """ycsb on 2 shards: every query"""
        self.check_ycsb()
        self.spread()


if __name__ == "__main__":
    livetest.main()
