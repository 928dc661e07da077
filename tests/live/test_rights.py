#!/usr/bin/env python3
"""Users who lack one right: a command that ends with status 1 has touched nothing, and others go on as before.

needs: standalone-auth; nightly: each right is taken away once
"""
import contextlib
import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import livetest
import minimongo

ACTIONS = ("find", "insert", "update", "remove", "createCollection", "createIndex", "dropCollection", "listIndexes",
           "collStats")
WRITES = "insert", "update", "remove", "createIndex", "dropCollection"
PLACES = {"data": "results", "files": "results.tipple.files", "loads": "results.tipple.loads"}
COMMANDS = (("load", "c.csv"), ("load", "--drop", "--yes", "c.csv"), ("load", "--reload-changed", "a.csv"),
            ("forget", "--delete", "--yes", "a.csv"))


def table(word, numbers):
    return "k,v\n" + "".join("%d,%s %d\n" % (number, word, number) for number in numbers)


class Rights(livetest.Case):
    def setUp(self):
        super().setUp()
        self.client.command(self.database, {"createRole": "narrow", "roles": [], "privileges": []})
        self.client.command("admin", {"createUser": self.database, "pwd": "pw", "roles": [
            {"role": "narrow", "db": self.database}]})
        self.addCleanup(self.client.command, "admin", {"dropUser": self.database})
        parts = urllib.parse.urlsplit(self.uri())
        query = dict(urllib.parse.parse_qsl(parts.query), authSource="admin")
        self.narrow = urllib.parse.urlunsplit(parts._replace(
            netloc="%s:pw@%s" % (self.database, parts.netloc.rpartition("@")[2]), query=urllib.parse.urlencode(query)))
        self.write("b.csv", table("b", range(60, 62)))
        self.write("c.csv", table("c", range(100, 130)))

    def allow_all_but(self, action, places):
        self.client.command(self.database, {"updateRole": "narrow", "privileges": [
            {"resource": {"db": self.database, "collection": name},
             "actions": [each for each in ACTIONS if each != action or place not in places]}
            for place, name in PLACES.items()] + [
                {"resource": {"db": self.database, "collection": ""}, "actions": ["listCollections"]}]})

    def fill(self):
        """a.csv and b.csv are loaded; then a.csv changes."""
        for name in PLACES.values():
            with contextlib.suppress(minimongo.CommandError):  # there is none
                self.client.command(self.database, {"drop": name})
        self.write("a.csv", table("a", range(50)))
        self.shorten_lease(1)
        self.tipple("load", "--uri", self.uri(), "-q", "a.csv", "b.csv")
        self.write("a.csv", table("A", range(50)))

    def there(self):
        """The collection with its documents, and what the catalog says of its inputs: not who works on them."""
        listed = self.client.command(self.database, {"listCollections": 1, "filter": {"name": "results"}})
        entries = self.client.find(self.database, PLACES["files"], sort={"_id": 1})
        return (listed["cursor"]["firstBatch"], self.documents(),
                [(entry["_id"], entry.get("removed"), entry.get("generation"), entry.get("dropping"))
                 for entry in entries if entry["_id"] in (0, 1, "catalog")])

    def test_one_less(self):
        tried = refused = 0
        self.fill()
        before = self.there()
        for action in WRITES:
            for places in (set(PLACES), {"data"}, {"files"}):
                self.allow_all_but(action, places)
                for command, *words in COMMANDS:
                    with self.subTest(action=action, places=places, words=words):
                        done = self.tipple(command, "--uri", self.narrow, *words, status=None)
                        after = self.there()
                        tried += 1
                        self.assertIn(done.returncode, (0, 1, 4), done.stderr)
                        if done.returncode == 1:
                            refused += 1
                            self.assertEqual(before, after, done.stderr)
                            self.tipple("verify", "--uri", self.uri(), "-q", "b.csv")
                        if before != after:
                            self.fill()
                            before = self.there()
        print("        %d commands, of which %d were refused" % (tried, refused))
        self.assertGreater(refused, tried // 3)


if __name__ == "__main__":
    livetest.main()
