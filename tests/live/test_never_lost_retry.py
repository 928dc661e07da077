"""Fixes of rejected records whose --retry was killed or paused, and other fixes of the same records after them: whatever
came first is in the collection, it is known, and nothing is open for ever.
needs: none; nightly on: standalone replset cluster; nightly: loads are killed at random moments"""
import json
import os
import queue
import re
import signal
import threading

import livetest
import neverlost
import relay
from livetest import rows

BAD = 20


class Case(neverlost.Case):
    server = "cluster"
    needs = (None, "_id")

    def setUp(self):
        super().setUp()
        self.text = rows(50, 1, bad={BAD})
        self.cut = self.text.split(b"\n")[BAD + 1]
        self.fixes = dict(zip("AB", rows(2, 7, header=False).split(b"\n")))
        self.write("a.csv", self.text)
        self.load("a.csv", status=2)
        kept = (self.folder / (self.database + ".results.rejects")).read_bytes()
        self.assertIn(b"\n" + self.cut + b"\n", kept)
        for name, record in self.fixes.items():
            self.write(name, kept.replace(b"\n" + self.cut + b"\n", b"\n" + record + b"\n"))

    def retry(self, name, status=0):
        return self.load("--retry", name, "--rejects", name + ".again", status=status)

    def holds_fix(self, name):
        """This fix is in the collection, and verify knows it."""
        bodies = [livetest.body_of(record) for _, _, record in livetest.records(self.text)]
        wanted = [body for body in bodies if body is not None] + [livetest.body_of(self.fixes[name])]
        self.assertEqual(sorted(wanted), sorted(raw[17:-1] for raw in self.documents(raw=True)))
        self.verified("a.csv", count=len(wanted))

    def opened(self):
        """How many rejects are open; a load of the input says the same."""
        said = json.loads(self.tipple("status", "--uri", self.uri(), "--inputs", "--json").stdout)
        count, = [entry["open_rejects"] for entry in said["inputs"]]
        self.assertEqual(0, self.load("a.csv", status=2 if count else 0)["read"])
        return count


class Anywhere(neverlost.Case):
    server = "cluster"
    needs = (None, "_id")

    def test_many(self):
        """other fixes of many records in turn, each --retry killed at any message: each record is there once, by one fix,
        and when one ends, all is known"""
        bad = set(range(20, 320, 3))
        text, whole = rows(400, 1, bad=bad), rows(400, 1)
        other = re.sub(rb"\|\d{4}-\d\d-\d\d\n", b"|1977-07-07\n", whole)
        self.write("a.csv", text)
        self.load("a.csv", status=2)
        kept = (self.folder / (self.database + ".results.rejects")).read_bytes()
        for name, fixed in (("A", whole), ("B", other)):
            lines = dict(zip(text.split(b"\n"), fixed.split(b"\n")))
            self.write(name, b"\n".join(lines.get(line, line) for line in kept.split(b"\n")))
        for number in range(12):
            name = self.draw.choice("AB")
            words = ("--retry", name, "-b", "5", "-j", "2", "--rejects", "again")
            if self.draw.random() < 0.5:
                self.interrupted_at_message(self.draw.randint(20, 120), *words, status=(0, 2))
            else:
                self.interrupted(self.draw.randint(1, 15), *words, status=(0, 2))
            if number % 3 == 0:
                self.verified("a.csv", count=self.there())
        said = self.load("--retry", "B", "-b", "10", "--rejects", "again", status=(0, 2))
        self.assertEqual(len(bad), said["read"])
        self.said("by the last one %d, by those before it %d" % (said["loaded"], said["already_there"] + said["rejected"]))
        self.assertEqual(400, self.there())
        self.load("a.csv")
        self.verified("a.csv", count=400)
        self.load("--retry", "A", "--rejects", "again", status=(0, 2))
        self.assertEqual(400, self.there())
        self.load("a.csv")
        self.verified("a.csv", count=400)


class Late(Case):
    def lagging(self, name):
        """A retry that is stopped when it has sent its document, which arrives only when what this gives is called; then
        it is killed, before it knows."""
        pids, met, late, replied = queue.SimpleQueue(), threading.Event(), threading.Event(), threading.Event()
        self.addCleanup(late.set)

        def rule(message):
            if message.reply and self.is_data(message):
                replied.set()
            if met.is_set() or message.reply or not self.is_data(message):
                return relay.PASS
            self.suspend(pids.get())
            met.set()
            return late
        relays = self.relayed(rule)
        load = self.start("--retry", name)
        pids.put(load.pid)
        self.assertTrue(met.wait(livetest.LONG))
        self.addCleanup(relays.close)
        self.relays = None  # others speak past them

        def arrive():
            late.set()
            self.assertTrue(replied.wait(livetest.LONG))
            load.kill()
            load.wait()
        return arrive

    def test_first_arrives_after(self):
        """the first fix arrives after the second was loaded: it has come too late"""
        arrive = self.lagging("A")
        self.assertEqual(1, self.retry("B")["loaded"])
        arrive()
        self.holds_fix("B")
        self.assertEqual(0, self.opened())

    def test_paused(self):
        """the first is suspended for longer than its lease, and wakes up after the second: it sends nothing more"""
        pids, met = queue.SimpleQueue(), threading.Event()

        def rule(message):
            if met.is_set() or message.reply or not self.is_data(message):
                return relay.PASS
            self.suspend(pids.get())
            met.set()
            return relay.CUT
        relays = self.relayed(rule)
        first = self.start("--retry", "A")
        pids.put(first.pid)
        self.assertTrue(met.wait(livetest.LONG))
        self.addCleanup(relays.close)
        self.relays = None
        self.assertEqual(1, self.retry("B")["loaded"])
        os.kill(first.pid, signal.SIGCONT)
        self.assertRegex(self.ended(first, (4,))[1], "another load has taken over ")
        self.holds_fix("B")
        self.assertEqual(0, self.opened())


class Unsafe(Case):
    needs = ("replset", "_id")

    def test_lasts(self):
        """--unsafe has no effect on --retry: a majority has the document, on disk, before it counts"""
        sent = []

        def rule(message):
            if not message.reply and self.is_data(message):
                sent.append(message.raw)
            return relay.PASS
        self.relayed(rule)
        words = [word + "&w=1" if word == self.uri() else word for word in self.words("--retry", "A", "--unsafe")]
        self.assertRegex(self.tipple(*words, status=0).stderr, "--unsafe has no effect")
        self.assertEqual([True], [b"majority" in raw for raw in sent])
        self.unrelayed()
        self.holds_fix("A")
        self.assertEqual(0, self.opened())


class AtOnce(neverlost.Case):
    needs = ("cluster", "k:hashed")

    def test_two(self):
        """two other fixes of many records at once: the second waits, and nothing is there twice"""
        bad = set(range(10, 30, 2))
        text = rows(50, 1, bad=bad)
        self.write("a.csv", text)
        self.load("a.csv", status=2)
        kept = (self.folder / (self.database + ".results.rejects")).read_bytes()
        for name, seed in (("A", 7), ("B", 8)):
            fixes = dict(zip((text.split(b"\n")[number + 1] for number in sorted(bad)),
                             rows(len(bad), seed, header=False).split(b"\n")))
            self.write(name, b"\n".join(fixes.get(line, line) for line in kept.split(b"\n")))
        met, leave = threading.Event(), threading.Event()
        self.addCleanup(leave.set)

        def rule(message):
            if message.reply or not self.is_data(message):
                return relay.PASS
            met.set()
            return leave
        relays = self.relayed(rule)
        first = self.start("--retry", "A", "--rejects", "A.again")
        self.assertTrue(met.wait(livetest.LONG))
        self.addCleanup(relays.close)
        self.relays = None  # the other one speaks past them
        said = self.folder / "said"
        with open(said, "wb") as stderr:
            second = self.start("--retry", "B", "--rejects", "B.again", stderr=stderr)
        self.assertTrue(livetest.wait_for(lambda: second.poll() is not None or b"this one waits" in said.read_bytes()))
        self.assertIsNone(second.poll(), said.read_text())
        leave.set()
        self.ended(first)
        self.assertEqual(2, second.wait(livetest.LONG), said.read_text())
        documents = self.documents(raw=True)
        self.assertEqual((50, 50), (len(documents), len({raw[9:17] for raw in documents})))
        self.load("a.csv")
        self.verified("a.csv", count=50)


if __name__ == "__main__":
    neverlost.main()
