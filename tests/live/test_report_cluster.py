"""--report on a cluster: shards and routers side by side, through the routers and past them.  needs: cluster"""
import json

import livecluster
import livereport
import livetest


def count(text):
    return int(text.replace(",", ""))


class ReportCluster(livecluster.Cluster):
    def setUp(self):
        super().setUp()
        self.write("a.csv", livetest.rows(3000, 3))
        self.environment = {"XDG_CACHE_HOME": str(self.folder / "cache")}

    def said(self, *words, status=0):
        done = self.tipple(words[0], "--uri", self.uri(), "--json", *words[1:], status=status,
                           **self.environment)
        return json.loads(done.stdout)

    def places(self, page, title):
        return {row[title.split()[-1]]: row for row in page.tables[title]}

    def test_load(self):
        """what the page says of each shard is what lies there; what it says of all of them adds up"""
        said = self.said("load", "--format", "mot", "--batch", "100", "--shard-key", "t:hashed",
                         "--report", "load.html", "a.csv")
        there = self.shares(said)
        page = livereport.Page(self.folder / "load.html")
        shards, routers = self.places(page, "By shard"), self.places(page, "By router")
        self.assertEqual(there, {name: count(shard["documents"]) for name, shard in shards.items()})
        self.assertEqual({router["name"]: router["documents"] for router in said["routers"]},
                         {name: count(router["documents"]) for name, router in routers.items()})
        self.assertAlmostEqual(100, sum(float(shard["share %"]) for shard in shards.values()), delta=0.2)
        for place in said["shards"] + said["routers"]:
            row = {**shards, **routers}[place["name"]]
            self.assertEqual(place["most_at_once"], int(row["most"]))
            self.assertLessEqual(float(row["busy %"]), 101)
        self.clean()

    def test_direct(self):
        """past the routers there are none to speak of"""
        self.said("load", "--format", "mot", "--batch", "100", "--direct", "--report", "load.html", "a.csv")
        page = livereport.Page(self.folder / "load.html")
        self.assertEqual(set(self.names()), {row["shard"] for row in page.tables["By shard"]})
        self.assertEqual([], page.tables.get("By router", []))
        self.clean()


livetest.main()
