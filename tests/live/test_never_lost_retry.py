"""Fixes of rejected records whose --retry was killed or paused, and other fixes of the same records after them: whatever
came first is in the collection, it is known, and nothing is open for ever.
needs: none; nightly on: standalone replset cluster; nightly: loads are killed at random moments"""
import json
import os
import queue
import re
import signal
import subprocess
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
        self.text, self.whole = rows(50, 1, bad={BAD}), rows(50, 1)
        self.cut = self.text.split(b"\n")[BAD + 1]
        fixes = rows(3, 7, header=False).split(b"\n")
        self.fixes = {"A": fixes[0], "B": fixes[1], "wrong": b"still|wrong", "out": None}
        self.write("a.csv", self.text)
        self.load("a.csv", status=2)
        kept = (self.folder / (self.database + ".results.rejects")).read_bytes()
        self.assertIn(b"\n" + self.cut + b"\n", kept)
        for name, record in self.fixes.items():
            line = b"" if record is None else record + b"\n"
            self.write(name, kept.replace(b"\n" + self.cut + b"\n", b"\n" + line))

    def retry(self, name, status=0):
        return self.load("--retry", name, "--rejects", name + ".again", status=status)

    def killed(self, name, where):
        """A retry that is killed when its document was acknowledged, or before it is sent."""
        if where == "after":
            self.assertTrue(self.interrupted(1, "--retry", name))
            return
        self.assertTrue(self.signalled(lambda message: not message.reply and self.is_data(message), "--retry", name))

    def holds_fix(self, name):
        """This fix (or none) is in the collection, and verify knows it."""
        bodies = [livetest.body_of(record) for _, _, record in livetest.records(self.text)]
        wanted = [body for body in bodies if body is not None]
        if name:
            wanted.append(livetest.body_of(self.fixes[name]))
        self.assertEqual(sorted(wanted), sorted(raw[17:-1] for raw in self.documents(raw=True)))
        self.verified("a.csv", count=len(wanted))

    def opened(self):
        """How many rejects are open; a load of the input says the same."""
        said = json.loads(self.tipple("status", "--uri", self.uri(), "--inputs", "--json").stdout)
        count, = [entry["open_rejects"] for entry in said["inputs"]]
        self.assertEqual(0, self.load("a.csv", status=2 if count else 0)["read"])
        return count


class Killed(Case):
    def test_the_same_again(self):
        """the same fix again, wherever the first was killed"""
        for where, part in (("before", "loaded"), ("after", "already_there")):
            self.setUp()
            self.killed("A", where)
            self.assertEqual(1, self.opened())
            self.assertEqual(1, self.retry("A")[part])
            self.holds_fix("A")
            self.assertEqual(0, self.opened())

    def test_another_one(self):
        """another fix: what is there already stays, and is what counts; the other is a reject"""
        self.killed("A", "after")
        self.holds_fix("A")
        self.assertEqual(1, self.retry("B", status=2)["rejected"])
        self.assertRegex(self.stderr, "1 of its records .*otherwise")
        self.holds_fix("A")
        self.assertEqual(0, self.opened())
        self.assertEqual(1, self.retry("A")["already_there"])
        self.assertEqual(1, self.retry("B", status=2)["rejected"])
        self.holds_fix("A")
        self.assertEqual(0, self.opened())

    def test_another_one_instead(self):
        """another fix, and nothing is there of the first: it takes its place"""
        self.killed("A", "before")
        self.holds_fix(None)
        self.assertEqual(1, self.retry("B")["loaded"])
        self.holds_fix("B")
        self.assertEqual(0, self.opened())
        self.assertEqual(1, self.retry("A", status=2)["rejected"])
        self.holds_fix("B")
        self.assertEqual(0, self.opened())

    def test_killed_twice(self):
        """two fixes, both killed: any third run finds out which is there"""
        for first, second, third in (("before", "before", None), ("before", "after", "B"), ("after", "after", "A")):
            self.setUp()
            self.killed("A", first)
            if (first, second) == ("after", "after"):  # nothing of the second is sent: it is killed later
                self.assertTrue(self.signalled(lambda message: not message.reply and message.command == "update" and
                                               b"confirmed" in message.raw, "--retry", "B"))
            else:
                self.killed("B", second)
            self.holds_fix(third)
            self.assertEqual(1, self.opened())
            said = self.retry("wrong", status=2)
            self.assertEqual(1, said["rejected"])
            self.holds_fix(third)
            self.assertEqual(0 if third else 1, self.opened())

    def test_left_out(self):
        """the person leaves the record out after a fix that was killed: what is there stays, is known, and is told"""
        for where, there in (("before", None), ("after", "A")):
            self.setUp()
            self.killed("A", where)
            self.assertEqual(0, self.retry("out", status=2 if there else 0)["read"])
            self.assertEqual(there is not None, "was fixed otherwise" in self.stderr)
            self.holds_fix(there)
            self.assertEqual(0, self.opened())

    def test_left_out_and_fixed(self):
        """a record that was left out is fixed after all"""
        self.retry("out")
        self.assertEqual(0, self.opened())
        self.assertEqual(1, self.retry("B")["loaded"])
        self.holds_fix("B")
        self.assertEqual(0, self.opened())
        self.retry("out")
        self.holds_fix("B")
        self.assertEqual(0, self.opened())


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
            os.kill(pids.get(), signal.SIGSTOP)
            met.set()
            return late
        relays = self.relayed(rule)
        load = self.start("--retry", name)
        pids.put(load.pid)
        self.assertTrue(met.wait(60))
        self.addCleanup(relays.close)
        self.relays = None  # others speak past them

        def arrive():
            late.set()
            self.assertTrue(replied.wait(20))
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

    def test_first_arrives_before(self):
        """the first fix arrives after the second was noted, and before that is sent: it is what counts"""
        arrive = self.lagging("A")

        def rule(message):
            if not message.reply and self.is_data(message):
                arrive()
        self.relayed(rule)
        self.assertEqual(1, self.retry("B", status=2)["rejected"])
        self.unrelayed()
        self.holds_fix("A")
        self.assertEqual(0, self.opened())

    def test_after_left_out(self):
        """the first fix arrives after the record was left out: it is there, and known"""
        arrive = self.lagging("A")
        self.retry("out")
        arrive()
        self.holds_fix("A")
        self.assertEqual(0, self.opened())


    def test_paused(self):
        """the first is suspended for longer than its lease, and wakes up after the second: it sends nothing more"""
        pids, met = queue.SimpleQueue(), threading.Event()

        def rule(message):
            if met.is_set() or message.reply or not self.is_data(message):
                return relay.PASS
            os.kill(pids.get(), signal.SIGSTOP)
            met.set()
            return relay.CUT
        relays = self.relayed(rule)
        first = self.start("--retry", "A")
        pids.put(first.pid)
        self.assertTrue(met.wait(60))
        self.addCleanup(relays.close)
        self.relays = None
        self.assertEqual(1, self.retry("B")["loaded"])
        os.kill(first.pid, signal.SIGCONT)
        self.assertRegex(self.ended(first, (4,))[1], "taken over an input")
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


class Beside(neverlost.Case):
    """Others, while a --retry is at work."""
    server = "replset"

    def held_back(self, name, *words):
        """A retry whose documents leave when what this gives is set."""
        met, leave = threading.Event(), threading.Event()
        self.addCleanup(leave.set)

        def rule(message):
            if message.reply or not self.is_data(message):
                return relay.PASS
            met.set()
            return leave
        relays = self.relayed(rule)
        first = self.start("--retry", name, "--rejects", name + ".again", *words)
        self.assertTrue(met.wait(60))
        self.addCleanup(relays.close)
        self.relays = None  # others speak past them
        return first, leave

    def wait_a_little(self, load):
        """For one that does not wait for others."""
        try:
            load.wait(3)
        except subprocess.TimeoutExpired:
            pass

    def fixed(self, name, *pairs):
        kept = (self.folder / (self.database + ".results.rejects")).read_bytes()
        for before, after in pairs:
            self.assertIn(b"\n" + before + b"\n", kept)
            kept = kept.replace(b"\n" + before + b"\n", b"\n" + after + b"\n")
        self.write(name, kept)


class BesideByKey(Beside):
    needs = ("cluster", "k:hashed")

    def test_two_at_once(self):
        """two other fixes of many records at once: the second waits, and nothing is there twice"""
        bad = set(range(10, 30, 2))
        text = rows(50, 1, bad=bad)
        self.write("a.csv", text)
        self.load("a.csv", status=2)
        lines = [text.split(b"\n")[number + 1] for number in sorted(bad)]
        for name, seed in (("A", 7), ("B", 8)):
            self.fixed(name, *zip(lines, rows(len(bad), seed, header=False).split(b"\n")))
        first, leave = self.held_back("A")
        second = self.start("--retry", "B", "--rejects", "B.again")
        self.wait_a_little(second)
        leave.set()
        self.ended(first)
        self.assertRegex(self.ended(second, (2,))[1], "this one waits")
        documents = self.documents(raw=True)
        self.assertEqual((50, 50), (len(documents), len({raw[9:17] for raw in documents})))
        self.load("a.csv")
        self.verified("a.csv", count=50)


class BesideGrowth(Beside):
    server = "cluster"
    needs = (None, "_id")

    def test_grows_meanwhile(self):
        """the input grows in the record that is fixed, and the filter leaves out the whole one: the load waits, and finds
        what the record was fixed to"""
        passes = ("--filter", "c==4")
        whole = rows(20, 1) + rows(1, 2, header=False).replace(b"|4|NT|", b"|5|NT|")
        cut = whole[:-15]
        self.write("a.csv", cut)
        self.load("a.csv", *passes, status=2)
        self.fixed("A", (cut[cut.rindex(b"\n") + 1:], rows(1, 77, header=False)[:-1]))
        first, leave = self.held_back("A", *passes)
        self.write("a.csv", whole + rows(5, 3, header=False))
        load = self.start("a.csv", *passes)
        self.wait_a_little(load)
        leave.set()
        self.ended(first)
        self.assertRegex(self.ended(load, (2,))[1], "was fixed to")
        self.assertEqual(26, self.there())
        self.assertEqual(0, self.load("a.csv", *passes, status=2)["read"])


if __name__ == "__main__":
    neverlost.main()
