"""The built-in suites where the data lie on two shards of a cluster.  needs: cluster"""
import livecluster
import livequery
import livetest


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
