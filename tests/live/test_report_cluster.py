"""--report on a cluster: shards and routers side by side, through the routers and past them.  needs: cluster"""
import json

import livecluster
import livereport
import livetest


class ReportCluster(livecluster.Cluster):
    def setUp(self):
        super().setUp()
        self.write("a.csv", livetest.rows(3000, 3))
        self.environment = {"XDG_CACHE_HOME": str(self.folder / "cache")}

    def said(self, *words, status=0):
        done = self.tipple(words[0], "--uri", self.uri(), "--json", *words[1:], status=status,
                           **self.environment)
        return json.loads(done.stdout)

    def places(self, found, title):
        return {row[title.split()[-1]]: row for row in livereport.rows(livereport.section(found, title))}

    def test_load(self):
        """what the report says of each shard is what lies there; what it says of all of them adds up"""
        said = self.said("load", "--format", "mot", "--batch", "100", "--shard-key", "t:hashed",
                         "--report", "load.json", "a.csv")
        there = self.shares(said)
        found = livereport.document(self.folder / "load.json")
        shards, routers = self.places(found, "By shard"), self.places(found, "By router")
        self.assertEqual(there, {name: shard["documents"] for name, shard in shards.items()})
        self.assertEqual({router["name"]: router["documents"] for router in said["routers"]},
                         {name: router["documents"] for name, router in routers.items()})
        self.assertAlmostEqual(100, sum(shard["share"] for shard in shards.values()), 6)
        for place in said["shards"] + said["routers"]:
            row = {**shards, **routers}[place["name"]]
            self.assertAlmostEqual(place["waiting_seconds"], row["waited for"], 5)
            self.assertEqual(place["most_at_once"], row["most at once"])
            self.assertEqual(place["busy_seconds"] > 0, row["busy"] > 0)
            self.assertLessEqual(row["busy"], 101)
        self.assertIn("checkpoints are not known", livereport.section(found, "Documents a second")["note"])
        self.clean()

    def test_direct(self):
        """past the routers there are none to tell of"""
        self.said("load", "--format", "mot", "--batch", "100", "--direct", "--report", "load.html", "a.csv")
        page = livereport.Page(self.folder / "load.html")
        self.assertEqual(set(self.names()), {row["shard"] for row in page.tables["By shard"]})
        self.assertEqual([], page.tables.get("By router", []))
        self.assertEqual("yes", page.settings["direct"])
        self.clean()

    def test_query(self):
        """queries through the routers"""
        self.said("load", "--format", "mot", "a.csv")
        said = self.said("query", "--suite", "mot", "--repeats", "2", "--warmup", "0", "--report", "query.html",
                         "by-make")
        page = livereport.Page(self.folder / "query.html")
        self.assertEqual("3,000", page.figures["documents"])
        self.assertEqual(said["configuration"], page.figures["configuration"])
        self.clean()


livetest.main()
