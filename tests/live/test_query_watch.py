"""What tipple query sees next to its measurements.
needs: none

A full scan of N documents, R rounds of it: the servers have looked at N x R documents, whoever of them was asked.
Disk figures are compared with collStats, asked for by another client and past the routers."""
import json
import os
import signal

import livecluster
import livetest

COUNT, ROUNDS = 8000, 4
SUITE = """suite: scans
queries:
  - name: scan
    documents: all
    pipeline: [{$group: {_id: {$mod: [$n, 10]}, sum: {$sum: {$multiply: [$n, {$sqrt: $n}]}}}}, {$sort: {_id: 1}}]
  - name: view
    collection: seen
    documents: all
    pipeline: [{$group: {_id: null, n: {$sum: $n}}}]
  - name: failing
    pipeline: [{$match: {n: 5}}, {$project: {n: {$divide: [1, {$subtract: [$n, 5]}]}}}]
"""
SHARES = ("user", "sys", "iowait", "idle", "steal")
COUNTERS = ("documents_examined", "bytes_into_cache")


class Watched:
    """Of a target that the test class has started."""
    rounds = ROUNDS

    def setUp(self):
        super().setUp()
        self.write("x.yaml", SUITE)

    def fill(self):
        for start in range(0, COUNT, 4000):
            self.client.insert(self.database, "results", [
                {"_id": number, "n": number, "s": "%d" % (number % 7) * 50} for number in range(start, start + 4000)],
                writeConcern={"w": "majority"})

    def query(self, *words, status=0, names=("scan",), rounds=None, **more):
        """What is said of the first of them."""
        done = self.tipple("query", "--suite", "./x.yaml", "--json", "--repeats", rounds or self.rounds, "--warmup", 0,
                           *(["--uri", self.uri()] if "--uri" not in words else []), *names, *words, status=status, **more)
        self.stderr = done.stderr
        self.said = json.loads(done.stdout) if done.stdout else None
        return self.said["queries"][0] if self.said else None

    def saw(self, measured, cores=True, rounds=None):
        """It has seen all that there is to be seen."""
        costs, expected = measured["beside"], COUNT * (rounds or self.rounds)
        self.assertAlmostEqual(1, sum(costs[name] for name in SHARES), places=6)
        for name in SHARES:
            self.assertGreaterEqual(costs[name], 0)
        # a server reads for itself now and then, too
        self.assertGreaterEqual(costs["documents_examined"], expected)
        self.assertLess(costs["documents_examined"], expected * 1.02 + 500)
        self.assertGreaterEqual(costs["bytes_into_cache"], 0)
        if cores:
            self.assertGreater(costs["server_cores"], 0)
            self.assertLess(costs["server_cores"], os.cpu_count() * 1.1 + 1)
            self.knows_others(costs)
        # all of the rounds, and next to nothing else
        self.assertGreaterEqual(costs["seconds"] * 1000, measured["mean_ms"] * measured["n"] * 0.99)
        self.assertEqual(rounds or self.rounds, measured["n"])

    def knows_others(self, seen):
        """after a second of one core the share of other processes is known: what was busy, without the servers"""
        if seen["seconds"] * os.cpu_count() < 1.1:
            return
        self.assertGreaterEqual(seen["others"], 0)
        servers = seen["server_cores"] / os.cpu_count()
        self.assertLess(seen["others"], max(seen["user"] + seen["sys"] - servers, 0) + 0.01)

    def sees_nothing(self, measured, cores=False):
        """It may not ask anybody: null, never zero; and this host can be seen without anybody's leave."""
        costs = measured["beside"]
        self.assertEqual([None, None], [costs[name] for name in COUNTERS])
        self.assertIsNone(costs["others"])
        if not cores:
            self.assertIsNone(costs["server_cores"])
        self.assertAlmostEqual(1, sum(costs[name] for name in SHARES), places=6)

    def notes(self):
        return [line for line in self.stderr.splitlines() if "bytes read into caches" in line]


class Own(Watched, livetest.OwnServer):
    """One server, or a set of them."""

    def stats(self, collection="results"):
        return self.client.command(self.database, {"collStats": collection})

    def test_rounds_add_up(self):
        """each of several measurements has its own counters, though they take turns"""
        self.fill()
        self.client.command(self.database, {"create": "seen", "viewOn": "results", "pipeline": [
            {"$match": {"_id": {"$lt": 500}}}]})
        self.query(names=("scan", "view"))
        scan, view = self.said["queries"]
        self.saw(scan)
        self.assertEqual((10, []), (len(scan["result"]), self.notes()))
        self.assertGreaterEqual(view["beside"]["documents_examined"], 500 * ROUNDS)
        self.assertLess(view["beside"]["documents_examined"], 500 * ROUNDS + 500)
        # nobody knows how many documents a view examines
        self.assertIsNone(view["docs_per_ms"])
        self.assertGreater(scan["docs_per_ms"], 0)

    def test_others(self):
        """a process that is busy next to a measurement holds a share of the CPUs"""
        self.fill()
        seen = self.query("--while", "while :; do :; done", "--duration", "2s", rounds=1)["beside"]
        self.assertGreater(seen["others"], 0.1)
        self.knows_others(seen)

    def test_disk(self):
        """what the collection takes is what its server says, for plain and clustered ones, with indexes and without"""
        for clustered in (False, True):
            with self.subTest(clustered=clustered):
                if clustered:
                    self.client.command(self.database, {"drop": "results"})
                    self.client.command(self.database, {"create": "results", "clusteredIndex": {
                        "key": {"_id": 1}, "unique": True}})
                self.fill()
                self.client.command(self.database, {"createIndexes": "results", "indexes": [
                    {"key": {"s": 1}, "name": "s"}, {"key": {"n": -1}, "name": "n"}]})
                self.client.command("admin", {"fsync": 1})
                before = self.stats()
                self.query(rounds=1)
                after = self.stats()
                self.assertEqual(COUNT, self.said["documents"])
                self.assertEqual(before["count"], self.said["documents"])
                self.assertGreater(before["totalIndexSize"], 0)
                self.assertIn(self.said["data_bytes_on_disk"], (before["storageSize"], after["storageSize"]))
                self.assertIn(self.said["index_bytes_on_disk"], (before["totalIndexSize"], after["totalIndexSize"]))
                self.assertEqual(clustered, self.said["configuration"].endswith(", clustered"))


class Standalone(Own):
    def test_view_as_target(self):
        """a view takes no disk of its own"""
        self.fill()
        self.client.command(self.database, {"create": "seen", "viewOn": "results", "pipeline": []})
        measured = self.query("--uri", self.uri("seen"))
        self.saw(measured)
        self.assertIsNone(self.said["documents"])
        self.assertIsNone(self.said["data_bytes_on_disk"])
        table = self.tipple("query", "--suite", "./x.yaml", "--uri", self.uri("seen"), "scan").stdout.decode()
        self.assertNotRegex(table, "nan|inf")

    def test_never_measured(self):
        """what fails while it warms up has seen nothing: null, not zero"""
        self.fill()
        measured = self.query("--warmup", 1, names=("failing",), status=4)
        self.assertGreater(measured["failures"], 0)
        self.assertEqual({None}, {value for name, value in measured["beside"].items() if name != "seconds"})


@livetest.nightly
class Three(Own):
    """A member that was frozen for a while does not call an election when it wakes."""
    options = {"replset": 3, "steady": True}

    def member(self, primary):
        """The process and the port of a member."""
        status = self.client.command("admin", {"replSetGetStatus": 1})
        for number, member in enumerate(status["members"]):
            if (member["stateStr"] == "PRIMARY") == primary:
                return next(each for each in self.state["members"]
                            if member["name"].endswith(":%d" % each["port"]))

    def test_secondaries(self):
        """reads from a secondary are counted where they are made"""
        self.fill()
        for reads in ("primary", "secondary"):
            measured = self.query("--read-preference", reads)
            self.saw(measured)

    def test_frozen_member(self):
        """a member that does not answer is reported once and left out; the others are counted"""
        self.fill()
        secondary = self.member(primary=False)
        os.kill(secondary["pid"], signal.SIGSTOP)
        self.addCleanup(os.kill, secondary["pid"], signal.SIGCONT)
        self.saw(self.query())
        self.assertEqual(1, len(self.notes()), self.stderr)
        self.assertRegex(self.notes()[0], r"^no counters from 127.0.0.1:%d " % secondary["port"])

    def test_frozen_in_between(self):
        """a member that stops answering later: the counters are null from then on, and nothing else is lost"""
        self.fill()
        pid = self.member(primary=False)["pid"]
        self.addCleanup(os.kill, pid, signal.SIGCONT)
        measured = self.query("--while", "kill -STOP %d; sleep 600" % pid, rounds=2)
        self.assertEqual(1, len(self.notes()), self.stderr)
        self.assertRegex(self.notes()[0], "not answer any more")
        self.sees_nothing(measured, cores=True)
        self.assertEqual(2, measured["n"])


class Secretive(Watched, livetest.OwnServer):
    options = {"auth": True, "replset": 1}

    def test_who_may_not_ask(self):
        """a user without serverStatus: one note that says what would help, null, and status 0"""
        self.fill()
        uri = self.user({"role": "read", "db": self.database})
        measured = self.query("--uri", uri)
        self.sees_nothing(measured)
        self.assertEqual(1, len(self.notes()), self.stderr)
        self.assertRegex(self.notes()[0], r"clusterMonitor.*have no figures$")
        self.assertGreater(self.said["data_bytes_on_disk"], 0)
        self.assertNotIn("pw", self.stderr)
        # who may ask has them
        self.client.command("admin", {"grantRolesToUser": self.database, "roles": ["clusterMonitor"]})
        self.saw(self.query("--uri", uri))
        self.assertEqual([], self.notes())
        # who may only find: the documents are counted, their size is null
        role = self.role(({"db": self.database, "collection": ""}, "find"))
        self.client.command("admin", {"updateUser": self.database, "roles": [role]})
        measured = self.query("--uri", uri)
        self.assertEqual(COUNT, self.said["documents"])
        self.assertEqual([None, None], [self.said["data_bytes_on_disk"], self.said["index_bytes_on_disk"]])
        self.assertGreater(measured["docs_per_ms"], 0)
        self.sees_nothing(measured)


class Shards(Watched, livecluster.OwnCluster):
    options = {"shards": 2, "replicas": 1, "routers": 1}

    def shard(self):
        """Half of the documents on each of the two."""
        name = "%s.results" % self.database
        self.client.command("admin", {"enableSharding": self.database})
        self.client.command("admin", {"shardCollection": name, "key": {"_id": 1}})
        self.client.command("admin", {"split": name, "middle": {"_id": COUNT // 2}})
        entry, = self.config("collections", filter={"_id": name})
        chunks = self.config("chunks", filter={"uuid": entry["uuid"]}, sort={"min": 1})
        self.client.command("admin", {"moveChunk": name, "find": {"_id": COUNT // 2},
                                      "to": "s1" if chunks[0]["shard"] == "s0" else "s0"})
        self.fill()

    def test_one_shard_only(self):
        """a collection that is not sharded lies on one of them"""
        self.fill()
        self.saw(self.query())
        self.assertIn(", 1 shard", self.said["configuration"])
        self.assertNotIn(", 1 shards", self.said["configuration"])

    def test_both(self):
        """the sum of both shards: of documents examined, and of what each says of its disk, asked for past the router"""
        self.shard()
        self.saw(self.query())
        self.assertEqual([], self.notes())
        self.assertIn(", 2 shards", self.said["configuration"])
        self.client.command(self.database, {"createIndexes": "results", "indexes": [{"key": {"s": 1}, "name": "s"}]})

        def there():
            found = []
            for name in self.names():
                with self.shard_client(name) as shard:
                    shard.command("admin", {"fsync": 1})
                    found.append(shard.command(self.database, {"collStats": "results"}))
            return [sum(stats[key] for stats in found) for key in ("storageSize", "totalIndexSize", "count")]
        before = there()
        self.query(rounds=1)
        after = there()
        said = [self.said[key] for key in ("data_bytes_on_disk", "index_bytes_on_disk", "documents")]
        for number in range(3):
            self.assertIn(said[number], (before[number], after[number]))
        self.assertEqual(COUNT, said[2])


@livetest.nightly
class SecretiveShards(Watched, livecluster.OwnCluster):
    options = {"shards": 2, "replicas": 1, "routers": 1, "auth": True}

    def test_who_is_not_known_there(self):
        """a user whom one of the shards does not know: the other one alone would be half of the truth"""
        self.fill()
        uri = self.user({"role": "clusterMonitor", "db": "admin"}, {"role": "read", "db": self.database})
        with self.shard_client("s1") as shard:
            shard.command("admin", {"dropUser": self.database})
        measured = self.query("--uri", uri)
        self.sees_nothing(measured, cores=True)
        self.assertEqual(1, len(self.notes()), self.stderr)
        self.assertRegex(self.notes()[0], "have no figures$")
        self.assertNotIn("pw", self.stderr)


if __name__ == "__main__":
    # of the classes that only others are made from, nothing is run
    del Own
    livetest.main()
