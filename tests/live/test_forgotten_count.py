"""A server that was killed may have forgotten how many documents a collection has: nobody is told that it is empty, or that
documents are missing.  needs: standalone; quick: yes"""
import livetest
import relay

COUNT = 6000
NONE = {"cursor": {"id": 0, "ns": "d.c", "firstBatch": [{"s": {"count": 0, "size": 0, "storageSize": 4096, "totalIndexSize": 4096}}]},
        "ok": 1.0}


class ForgottenCount(livetest.Case):
    def setUp(self):
        super().setUp()
        self.write("numbers.csv", "n\n" + "".join("%d\n" % number for number in range(COUNT)))
        self.tipple("load", "--uri", self.uri(), "numbers.csv", status=0)

    def told(self, *words, status=0):
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
        said = self.told("status")
        self.assertIn("6,000 documents", said)
        self.assertNotIn("fewer documents", said)
        self.client.command(self.database, {"delete": "results", "deletes": [{"q": {"n": {"$lt": 3}}, "limit": 0}]})
        said = self.told("status")
        self.assertIn("5,997 documents", said)
        self.assertIn("fewer documents", said)

    def test_query(self):
        """the collection is asked, as one of that many documents"""
        self.assertIn("6,000 documents", self.told("query", "--repeats", 1, "{n: 5}"))
        self.assertIn("has no documents", self.told("query", "--suite", self.write_suite(), status=1))

    def write_suite(self):
        """A suite of a collection that has none."""
        self.client.insert(self.database, "gone", [{"_id": 1}])
        self.client.command(self.database, {"delete": "gone", "deletes": [{"q": {}, "limit": 0}]})
        self.write("gone.yaml", "suite: gone\nqueries:\n  - {name: gone, collection: gone, find: {filter: {}}}\n")
        return "./gone.yaml"


if __name__ == "__main__":
    livetest.main()
