"""Others at the same target: loads of the same files that come and go, and people who drop what is being loaded.
needs: none"""
import gzip
import os
import queue
import signal

import faultlab
import livetest
import relay
from livetest import rows

TEXTS = {"in/%02d.csv%s" % (number, ".gz" if number % 3 == 1 else ""): rows(800, number, bad={7, 700})
         for number in range(12)}
TEXTS["in/large.csv"] = rows(16000, 20, bad={5000})  # not claimed together with others
DOCUMENTS = sum(len(faultlab.bodies(text)) for text in TEXTS.values()) - len(faultlab.rejected(TEXTS))


class Others:
    """With each kind of server."""

    def setUp(self):
        super().setUp()
        for name, text in TEXTS.items():
            self.write(name, gzip.compress(text, 1) if name.endswith(".gz") else text)

    def member(self, number):
        """One of the loads, which is killed after some documents. Before its server stands a relay of its own."""
        pid = queue.SimpleQueue()
        left = DOCUMENTS - self.client.count(self.database, "results")
        moment = faultlab.Moment(self.draw.randint(1, max(left // 20, 1)), lambda: os.kill(pid.get(), signal.SIGKILL))
        self.relays = relays = relay.Relays(self.ports(), moment)
        self.addCleanup(relays.close)
        load = self.start("in", "-j", "2", "-b", self.draw.choice((20, 100)), "--rejects", "rejects.%d" % number)
        self.relays = None
        pid.put(load.pid)
        return load

    def test_several_loads(self):
        """three loads of the same files at any time, which are killed one after the other, and others come"""
        kills, killed, number, loads, done = 12 if livetest.NIGHTLY else 6, 0, 0, [], False
        while loads or not done:
            while len(loads) < 3 and not done:
                loads.append(self.member(number))
                number += 1
            self.assertTrue(livetest.wait_for(lambda: any(load.poll() is not None for load in loads)))
            ended = [load for load in loads if load.poll() is not None]
            loads = [load for load in loads if load not in ended]
            for load in ended:
                self.over(load, (0, 2, 137))
                killed += load.returncode == -signal.SIGKILL
                done |= load.returncode != -signal.SIGKILL
            done |= killed >= kills
        self.assertGreater(killed, 2)
        self.load("in", "--rejects", "rejects.last", status=(0, 2))
        self.verified(TEXTS, ["in"], "three loads at once, %d of %d were killed" % (killed, number),
                      rejects=self.kept())

    def kept(self):
        """Only who has something to reject has a reject file."""
        return [kept.name for kept in self.folder.glob("rejects.*")]


DROPS = {"dropped the collection": lambda test: test.drop("results"),
         "dropped collection and catalog": lambda test: [test.drop(name) for name in (
             "results", "results.tipple.files", "results.tipple.loads")],
         "dropped the database": lambda test: test.client.command(test.database, {"dropDatabase": 1}),
         "dropped the catalog": lambda test: test.drop("results.tipple.files"),
         "removed all documents of the catalog": lambda test: test.client.command(test.database, {
             "delete": "results.tipple.files", "deletes": [{"q": {}, "limit": 0}]}),
         "removed all entries of inputs": lambda test: test.client.command(test.database, {
             "delete": "results.tipple.files", "deletes": [{"q": {"_id": {"$type": "number"}}, "limit": 0}]}),
         "renamed the collection": lambda test: test.rename(),
         "dropped the collection and made another one": lambda test: [
             test.drop("results"), test.client.insert(test.database, "results", [{"_id": "somebody else's"}])]}


class Dropped(faultlab.Lab):
    """A person at the same collection."""
    TEXT = rows(6000, 1)

    def drop(self, name):
        self.client.command(self.database, {"drop": name})

    def rename(self):
        name = self.database + ".results"
        self.client.command("admin", {"renameCollection": name, "to": name + "2"})

    def test_dropped(self):
        """a collection, or its books, that somebody drops in the middle: status 4 and what to do, no quiet success"""
        self.write("a.csv", self.TEXT)
        for what, drop in DROPS.items():
            self.client.drop_database(self.database)
            with self.subTest(what=what):
                moment = faultlab.HeldMoment(self.draw.randint(1, 4000))
                self.relayed(moment)
                load = self.start("a.csv", "-b", "100")
                self.assertTrue(livetest.wait_for(lambda: moment.over))
                drop(self)
                moment.gate.set()
                _, said = self.over(load, (4,))
                self.unrelayed()
                self.assertRegex(said, "while it was.*--drop")
                nothing_is_left = what in ("dropped collection and catalog", "dropped the database")
                if not nothing_is_left or self.there():
                    self.load("a.csv", status=1)
                    self.assertIn("--drop", self.stderr)
                self.load("a.csv", "--drop", "--yes")
                self.verified({"a.csv": self.TEXT}, ["a.csv"], "somebody %s; loaded anew with --drop" % what)


class Majority(Others, faultlab.Lab):
    server = "replset"


@livetest.nightly
class Standalone(Others, faultlab.Lab):
    pass


if __name__ == "__main__":
    livetest.main()
