"""tipple query, when a connection breaks, and which read concern goes along. A server that was killed may have forgotten
how many documents a collection has: nobody hears that it is empty, or that documents are missing.
needs: standalone; quick: yes"""
import json

import livetest
import relay

SUITE = """suite: replies
queries:
  - {name: found, find: {filter: {n: {$gte: 0}}}, options: {batchSize: 4}}
  - {name: piped, pipeline: [{$match: {n: {$gte: 0}}}], options: {batchSize: 4}}
  - {name: summed, accumulate: {field: n}, options: {batchSize: 4}}
  - {name: indexed, find: {filter: {n: 1}}, setup: {indexes: [{key: {n: 1}}]}}
  - {name: reduced, mapReduce: {map: 'function() { emit(0, this.n); }', reduce: 'function(key, values) { return Array.sum(values); }'}}
"""

COUNT = 6000
NONE = {"cursor": {"id": 0, "ns": "d.c", "firstBatch": [{"s": {"count": 0, "size": 0, "storageSize": 4096, "totalIndexSize": 4096}}]},
        "ok": 1.0}


class Replies(livetest.Case):
    concern = ""

    def setUp(self):
        super().setUp()
        self.write("x.yaml", SUITE)
        self.client.insert(self.database, "results", [{"_id": number, "n": number} for number in range(9)])

    def query(self, rule, *words, status=0):
        """What is said of the measurements."""
        with relay.Relays([self.state["members"][0]["port"]], rule) as relays:
            done = self.tipple("query", "--suite", "./x.yaml", "--json", "--repeats", 1, "--warmup", 0, "--uri", relays.rename(self.uri() + self.concern),
                               *words, status=status)
        self.stderr = done.stderr
        said = json.loads(done.stdout) if done.stdout else {}
        return {entry["name"]: entry for entry in said.get("queries") or []}

    def test_lost_once(self):
        """a connection that broke in one measurement: the next one waits until the server is found again, and is measured"""
        lost = []

        def rule(message):
            if message.command == "find" and message.collection == "results" and not message.reply and not lost:
                lost.append(message)
                return relay.CUT
            return relay.PASS
        found = self.query(rule, "found", "piped", "summed", "reduced", status=4)
        self.assertTrue(lost)
        self.assertEqual([1, 0, 0, 0], [entry["failures"] for entry in found.values()], found)
        self.assertEqual([{"_id": 0, "value": 36}], found["reduced"]["result"])

    def test_read_concern(self):
        """the read concern of the URI, or of the query, goes along, once"""
        asked = []

        def rule(message):
            if not message.reply and (b"$gte" in message.raw or message.command == "mapReduce"):
                asked.append((message.command, message.raw.count(b"readConcern"), message.raw.count(b"local\0")))
            return relay.PASS
        self.concern = "&readConcernLevel=local"
        self.query(rule, "found", "piped", "reduced")
        self.concern = ""
        self.write("x.yaml", SUITE.replace("reduced,", "reduced, options: {readConcern: local},"))
        self.query(rule, "reduced")
        self.assertEqual(["find", "aggregate", "mapReduce", "mapReduce"], [command for command, _, _ in asked])
        self.assertEqual([(1, 1)] * 4, [(names, levels) for _, names, levels in asked])
        self.concern = "&readConcernLevel=majority"  # which a server refuses where its lists are asked for
        self.assertEqual(1, self.query(lambda message: relay.PASS, "indexed", "--setup")["indexed"]["returned"])


class ForgottenCount(livetest.Case):
    def setUp(self):
        super().setUp()
        self.write("numbers.csv", "n\n" + "".join("%d\n" % number for number in range(COUNT)))
        self.tipple("load", "--uri", self.uri(), "numbers.csv", status=0)

    def output(self, *words, status=0):
        """What a command prints, where the server's own number is the one of its last checkpoint, made before the load."""
        def rule(message):
            if message.reply and message.command == "count":
                return relay.answer(message, {"n": 0, "ok": 1.0})
            if message.reply and b"$collStats" in message.question.raw:
                return relay.answer(message, NONE)
            return relay.PASS
        with relay.Relays([self.state["members"][0]["port"]], rule) as relays:
            done = self.tipple(words[0], "--uri", relays.rename(self.uri()), *words[1:], status=status)
        return done.stdout.decode() + done.stderr

    def test_status(self):
        """they are counted; and those that are missing are missed"""
        said = self.output("status")
        self.assertIn("6,000 documents", said)
        self.assertNotIn("fewer documents", said)
        self.client.command(self.database, {"delete": "results", "deletes": [{"q": {"n": {"$lt": 3}}, "limit": 0}]})
        said = self.output("status")
        self.assertIn("5,997 documents", said)
        self.assertIn("fewer documents", said)

    def test_query(self):
        """the collection is asked, as one of that many documents"""
        self.assertIn("6,000 documents", self.output("query", "--repeats", 1, "{n: 5}"))
        self.assertIn("has no documents", self.output("query", "--suite", self.write_suite(), status=1))

    def write_suite(self):
        """A suite of a collection that has none."""
        self.client.insert(self.database, "gone", [{"_id": 1}])
        self.client.command(self.database, {"delete": "gone", "deletes": [{"q": {}, "limit": 0}]})
        self.write("gone.yaml", "suite: gone\nqueries:\n  - {name: gone, collection: gone, find: {filter: {}}}\n")
        return "./gone.yaml"


if __name__ == "__main__":
    livetest.main()
