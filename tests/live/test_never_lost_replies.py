"""Replies that are lost, and documents of a damaged file that are there already: nothing is believed that was not
seen.  needs: none; nightly on: standalone replset cluster; nightly: loads are killed at random moments"""
import json

import neverlost
import minimongo as mongo
import relay
from livetest import rows

READS = {"find", "getMore", "aggregate", "count", "hello", "isMaster", "ismaster", "ping", "buildInfo", "killCursors",
         "listCollections", "serverStatus", "endSessions", "getParameter", "collStats", "getCmdLineOpts", "hostInfo",
         "saslStart", "saslContinue", "connectionStatus"}


class Replies(neverlost.Case):
    server = "replset"

    def lost(self, *words, status):
        """A load that is not told what became of any batch when it sends it first. How many batches that were."""
        met = set()

        def rule(message):
            if self.is_data(message) and message.reply:
                first = next(message.question.documents(), b"")
                if first not in met:
                    met.add(first)
                    return relay.CUT
            return relay.PASS
        self.relayed(rule)
        said = self.load("-j", "2", "-b", "500", *words, status=status)
        self.unrelayed()
        return said, len(met)

    def test_damaged_then_right(self):
        """a damaged file was loaded, and replies are lost while the right one is: its documents are not believed"""
        text = rows(12000, 1)
        right, bad = neverlost.damaged(text, b"|FIESTA|", b"|FIASTA|")
        self.write("a.gz", bad)
        self.load("a.gz", status=5)
        self.write("a.gz", right)
        said, _ = self.lost("a.gz", status=(0, 2, 5))
        if said["status"] == 0:
            self.exact({"a.gz": text}, "a load ended with 0")
        else:
            self.assertRegex(self.stderr, "tipple: .*a.gz")

    def test_somebody_elses_document(self):
        """a document of somebody else has the _id of a record, and replies are lost: it is a reject, not taken as ours"""
        text = rows(3000, 2)
        self.inputs({"a.csv": text})
        self.load("a.csv")
        middle = sorted(document["_id"] for document in self.documents())[1500]
        self.begin_anew()
        self.load("--limit", "1", "a.csv")
        before = self.documents()
        self.client.insert(self.database, "results", [{"_id": mongo.Int64(middle), "x": "somebody else's"}])
        said, met = self.lost("a.csv", status=(0, 2, 4))
        self.assertGreater(met, 0)
        self.assertEqual(1, len(before))
        self.assertEqual((2, 1), (said["status"], said["rejected"]), self.stderr)
        self.assertEqual(3000, self.there())

    def test_lost_at_the_start(self):
        """the reply to a command that writes down an input is lost: the input is known once, and completed"""
        text = rows(500, 3)
        for number in range(1, 13):
            self.begin_anew()
            left, met = [number], []

            def rule(message):
                if self.is_data(message):
                    left[0] = -1
                elif message.reply and message.command not in READS and "results" in message.collection:
                    left[0] -= 1
                if left[0] != 0 or met:
                    return relay.PASS
                met.append(message.command)
                return relay.CUT
            self.relayed(rule)
            self.load("-", stdin=text)
            self.unrelayed()
            self.exact({"-": text}, "reply %d to %s was lost" % (number, met))
            status = json.loads(self.tipple("status", "--uri", self.uri(), "--json").stdout)
            self.assertEqual((1, 1), (status["files"], status["files_complete"]),
                             "reply %d to %s was lost" % (number, met))
            if not met:
                break
        self.assertGreater(number, 1)


class Hashed(neverlost.Case):
    """Where no duplicate key tells that another shard has a document of the same _id."""
    needs = ("cluster", "k:hashed")

    def test_damaged_key(self):
        """a damaged file whose wrong record went to another shard, and then the right one: not both are there"""
        text = rows(12000, 4)
        right, bad = neverlost.damaged(text, b"|FORD|", *(b"|F%cRD|" % letter for letter in b"ABCDEF"))
        self.write("a.gz", bad)
        self.load("a.gz", status=5)
        self.write("a.gz", right)
        said = self.load("a.gz", status=(0, 2, 5))
        if said["status"] == 0:
            self.exact({"a.gz": text}, "a load ended with 0")
        self.assertLessEqual(self.there(), 12000, "both versions of a record are there")

    def test_killed(self):
        """a load through routers, killed and gone on with: each record is on one shard"""
        texts = self.inputs({"a.csv": rows(9000, 5), "b.gz": rows(3000, 6)})
        for _ in range(4):
            self.interrupted(self.draw.randint(100, 3000), "-b", "100", *texts)
        self.finished(texts)


if __name__ == "__main__":
    neverlost.main()
