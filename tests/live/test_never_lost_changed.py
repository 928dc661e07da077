"""Inputs that changed after they were loaded, and inputs that are to be forgotten: --reload-changed, the correction of
a torn last record, tipple forget.  needs: none; nightly on: standalone replset cluster; nightly: loads are killed at random moments"""
import os
import queue
import signal
import subprocess
import threading

import livetest
import neverlost
import relay
from livetest import rows


class Changed(neverlost.Case):
    """--reload-changed."""
    server = "replset"

    def refused(self, name):
        """A changed file is refused with a sentence, and its documents stay as they are."""
        before = self.documents(raw=True)
        said = self.load(name, status=5)
        self.assertEqual(0, said["loaded"] if said else 0)
        self.assertRegex(self.stderr, r"tipple: .*%s.* --reload-changed" % name)
        self.assertEqual(before, self.documents(raw=True))

    def reloaded(self, name, text, others=()):
        """Its documents are removed, and it is loaded anew; also when that is interrupted."""
        self.refused(name)
        for _ in range(2):
            self.interrupted(self.draw.randint(1, 2000), "-b", "100", "--reload-changed", name)
        said = self.load("--reload-changed", name)
        self.assertEqual(0, said["rejected"])
        self.exact({name: text, **dict(others)})
        self.verified(name, count=text.count(b"\n") - 1)
        self.assertEqual(0, self.load(name)["read"])
        self.assertEqual(0, self.load("--reload-changed", name)["read"], "it has not changed any more")
        self.exact({name: text, **dict(others)})

    def test_damaged_then_right(self):
        """a damaged file was loaded, and is right now"""
        text = rows(12000, 1)
        right, bad = neverlost.damaged(text, b"|FIESTA|", b"|FIASTA|")
        others = self.inputs({"other.csv": rows(500, 2)})
        self.load("other.csv")
        self.write("a.gz", bad)
        for _ in range(2):
            self.interrupted(self.draw.randint(1, 11000), "-b", "100", "a.gz", status=(5,))
        self.load("a.gz", status=5)
        self.write("a.gz", right)
        self.reloaded("a.gz", text, others.items())


class Corrected(neverlost.Case):
    """The last record of a file that ended without a line end, inside it."""
    needs = (None, "_id")

    def test_interrupted(self):
        """the file is whole now: the record is corrected, also when the load that corrects it is killed at any message"""
        text = rows(1000, 7)
        for _ in range(6):
            self.begin_anew()
            self.inputs({"a.csv": text[:-4]})
            self.load("a.csv")
            self.inputs({"a.csv": text})
            self.interrupted_at_message(self.draw.randint(5, 60), "a.csv")
            self.finished({"a.csv": text})

    def lagging(self, text, more, *words):
        """A load of a text without a last line end is killed, and the message with its last record comes late: when the
        load of the grown text has read back what is there, and before it sends anything. That one, still held, and
        what lets it go on."""
        late, go_on = threading.Event(), threading.Event()
        cut, held = threading.Event(), threading.Event()
        self.addCleanup(late.set)
        self.addCleanup(go_on.set)

        def rule(message):
            if not self.is_data(message) or message.reply:
                return relay.PASS
            if not cut.is_set() and message.inserted == 1:
                cut.set()
                return late
            if cut.is_set() and not held.is_set():
                held.set()
                return go_on
            return relay.PASS
        self.relayed(rule)
        self.inputs({"a.csv": text})
        load = self.start(*words, "a.csv")
        self.assertTrue(cut.wait(livetest.LONG))
        load.kill()
        load.wait()
        self.inputs({"a.csv": more})
        load = self.start(*words, "a.csv")
        self.assertTrue(held.wait(livetest.LONG))
        there = self.there()
        late.set()
        self.assertTrue(livetest.wait_for(lambda: self.there() > there))
        return load, go_on

    def test_late(self):
        """what was cut off comes late, when the load of the whole file has looked: it is corrected all the same"""
        text = rows(1000, 20)
        more = text + rows(50, 21, header=False)
        load, go_on = self.lagging(text[:-4], more)
        go_on.set()
        said, _ = self.ended(load)
        self.assertEqual((1, 0), (said["corrected"], said["rejected"]))
        self.unrelayed()
        self.complete({"a.csv": more})


class Forgotten(neverlost.Case):
    """tipple forget INPUT."""

    def forget(self, *words, status=0):
        return self.tipple("forget", "--uri", self.uri(), *words, status=status)

    def forget_in_background(self, name, verdict):
        """One of which the first message that removes documents meets this."""
        pids, met = queue.SimpleQueue(), threading.Event()

        def rule(message):
            removes = message.command == "delete" and b"$gte" in message.raw  # and does not only ask whether it may
            if met.is_set() or message.reply or not removes or message.collection != "results":
                return relay.PASS
            number, answer = verdict
            os.kill(pids.get(), number)
            met.set()
            return answer
        self.relayed(rule)
        process = subprocess.Popen(self.command("forget", "--uri", self.uri(), name, "--delete", "--yes"), cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        pids.put(process.pid)
        self.assertTrue(met.wait(livetest.LONG))
        return process

    def test_is_killed(self):
        """before it removes documents: status says so, the same command goes on, and so does every load"""
        texts = self.inputs({"a.csv": rows(2000, 9), "b.csv": rows(500, 10)})
        for goes_on in (lambda: self.forget("a.csv", "--delete", "--yes"), lambda: self.load("b.csv")):
            self.load(*texts)
            self.forget_in_background("a.csv", (signal.SIGKILL, relay.CUT)).wait()
            self.unrelayed()
            self.assertIn(b"removal begun", self.tipple("status", "--uri", self.uri()).stdout)
            goes_on()
            self.exact({"b.csv": texts["b.csv"]})
            self.assertNotIn(b"removal", self.tipple("status", "--uri", self.uri()).stdout)
            self.finished(texts)

    def test_is_paused(self):
        """before it removes documents, until it is taken for dead and the input was loaded again: it removes none of
        those"""
        texts = self.inputs({"a.csv": rows(2000, 11)})
        self.load(*texts)
        late = threading.Event()
        self.addCleanup(late.set)
        process = self.forget_in_background("a.csv", (signal.SIGSTOP, late))
        self.assertEqual(2000, self.load(*texts)["loaded"])
        late.set()
        process.send_signal(signal.SIGCONT)
        process.wait(neverlost.HANG)
        self.unrelayed()
        self.complete(texts)

    def test_load_is_suspended(self):
        """a load wakes up after its lease, when its input was removed, and the catalog is slow to say so: it sends no more of it"""
        self.inputs({"a.csv": rows(150000, 12)})
        woken = threading.Event()
        self.relayed(lambda message: 1 if woken.is_set() and message.books and not message.reply else relay.PASS)
        load = self.start("-j", "2", "-b", "100", "a.csv")
        self.wait_for_documents(5000, load)
        load.send_signal(signal.SIGSTOP)
        try:
            self.forget("a.csv", "--delete", "--yes")
            before = self.there()
            woken.set()
        finally:
            load.send_signal(signal.SIGCONT)
        _, said = self.ended(load, (4,))
        self.assertIn("a.csv was removed", said)
        self.unrelayed()
        self.assertLessEqual(self.there() - before, 2 * 2 * 100, "more than what was already under way")
        self.forget("a.csv", "--delete", "--yes")
        self.exact({})
        texts = self.inputs({"a.csv": rows(2000, 13)})
        self.finished(texts)


if __name__ == "__main__":
    neverlost.main()
