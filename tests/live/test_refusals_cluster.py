"""Commands that are refused, on a cluster: nothing is written, and sharding, chunks and zones are as they were.  needs: cluster"""
import clusters
import live
import livetest
import minimongo as mongo
import refusals
from livecluster import Cluster

WHOLE = {"min": {"_id": mongo.MinKey}, "max": {"_id": mongo.MaxKey}}


class Sharded(refusals.Case, Cluster):
    def test_cluster(self):
        """shard keys that cannot be, or are others than there are, and what a user has set"""
        name = self.database + "."
        self.fill("byk", "--shard-key", "k,v", "a.csv")
        self.fill("one", "--shard-key", "none", "a.csv")
        self.client.command(self.database, {"create": "collated", "collation": {"locale": "de"}})
        self.admin(shardCollection=name + "byv", key={"v": 1})
        self.admin(addShardToZone="s0", zone=self.database)
        self.addCleanup(self.admin, removeShardFromZone="s0", zone=self.database)
        self.admin(updateZoneKeyRange=name + "zoned", **WHOLE, zone=self.database)
        self.addCleanup(self.admin, updateZoneKeyRange=name + "zoned", **WHOLE, zone=None)
        shard = clusters.uri(self.state, [each for each in self.state["members"] if each["set"] == "s0"])
        expires = "--index '{\"key\": {\"k\": 1}, \"name\": \"x\", \"expireAfterSeconds\": 9}'"
        self.write("b.json", '{"a": 1}\n{"a": 2}\n{"a": 3}\n')
        self.are_refused("""
            none: load --shard-key k:-1 a.csv                                => 1 ascending fields
            none: load --shard-key nope:hashed a.csv                         => 1 no key 'nope'
            none: load --shard-key ts:hashed b.json                          => 1 none of the 3 records
            none: load --id k --shard-key v a.csv                            => 1 not go with 'v'
            none: load --existing replace --id _id --shard-key v a.json      => 1 not go with 'v'
            none: load --index v:1;unique a.csv                              => 1 the unique index v_1 cannot be built
            none: load --shard-key k {expires} a.csv                         => 1 would remove documents
            none: load --create '{{"collation": {{"locale": "de"}}}}' a.csv  => 1 would have a collation
            byk: load --shard-key v b.csv                                    => 1 on {{ "k" : 1, "v" : 1 }} already
            byk: load --shard-key none b.csv                                 => 1 on {{ "k" : 1, "v" : 1 }} already
            byk: load --index v:1;unique b.csv                               => 1 the unique index v_1 cannot be built
            byk: load --drop --yes --index v:1;unique b.csv                  => 1 the unique index v_1 cannot be built
            one: load --shard-key k:hashed b.csv                             => 1 is not sharded, and has documents
            one: load --direct b.csv                                         => 1 spread over the shards
            byv: load --id k b.csv                                           => 1 not go with 'v'
            zoned: load b.csv                                                => 1 has 1 zone range
            collated: load b.csv                                             => 1 has a collation
            byk: load --uri {shard} b.csv                                    => 1 is what one shard
            """.format(expires=expires, shard=live.with_path(shard, name + "byk")))


class Hidden(refusals.Case, Cluster):
    server = "cluster-auth"

    def test_hidden(self):
        """a user who may not read the config database"""
        self.fill("byk", "--shard-key", "k", "a.csv")
        self.fill("own", "--id", "k", "--shard-key", "k", "a.csv")
        self.user({"role": "readWrite", "db": self.database})
        self.who = self.database
        self.are_refused("""
            fresh: load --shard-key k a.csv                                  => 1 may not read how
            byk: load --direct b.csv                                         => 1 the role clusterMonitor
            byk: load --drop --yes b.csv                                     => 1 read what a drop takes away
            own: load b.csv                                                  => 1 may not read by which key
            """)


if __name__ == "__main__":
    livetest.main()
