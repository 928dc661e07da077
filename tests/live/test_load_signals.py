"""A load that is interrupted or killed at any moment is completed by the same command: nothing missing, nothing twice."""
import gzip
import json
import random
import signal
import time

import live
import livetest
from livetest import Books, rows


class Ended(livetest.Case):
    TIMES = 5 if livetest.sanitized() else 20 if live.KIND == "standalone" else 12
    TEXTS = {"a.csv": rows(12000, 1, bad=set(range(3000, 9000, 100))), "b.csv": rows(2000, 2, bad={1, 1999}),
             "c.gz": rows(9000, 3, bad=set(range(0, 9000, 200)))}
    PACKED = {"a.csv": TEXTS["a.csv"], "b.csv": TEXTS["b.csv"], "c.gz": gzip.compress(TEXTS["c.gz"], 1)}
    BOOKS = Books().plain("a.csv", TEXTS["a.csv"]).plain("b.csv", TEXTS["b.csv"]) \
        .gzip("c.gz", TEXTS["c.gz"], PACKED["c.gz"])
    EXPECTED = livetest.digest(BOOKS.documents())
    REJECTED = sorted(BOOKS.rejected())

    def setUp(self):
        super().setUp()
        for name, content in self.PACKED.items():
            self.write(name, content)
        began = time.monotonic()
        self.load(*self.PACKED, "-b", 100, status=2)
        self.seconds = time.monotonic() - began
        self.assertEqual(self.EXPECTED, self.hash())

    def again(self):
        """An empty target, and no rejects."""
        self.client.drop_database(self.database)
        for left in self.folder.glob("*.rejects"):
            left.unlink()

    def stop(self, words, moment, number):
        """One run that a signal meets after so many seconds, if it does; its exit status as Popen has it."""
        load = self.start(*words)
        time.sleep(moment)
        load.send_signal(number)
        out, said = load.communicate(timeout=60)
        self.assertIn(load.returncode, (-number, 0, 2), said)
        if out and number != signal.SIGKILL:  # which may come when everything is said
            counts = livetest.Counts(json.loads(out))
            self.assertEqual(livetest.ending(load.returncode), counts["status"])
        return load.returncode

    def completed(self, words, what):
        """The same command goes on, and in the end everything is there, once."""
        counts = self.load(*words, status=(0, 2))
        if self.hash() != self.EXPECTED:
            self.holds(self.placed(self.TEXTS))  # a kill while files are registered leaves a hole
        self.assertEqual(self.REJECTED, sorted((*entry[:3], entry[4]) for entry in self.entries()), "rejects, " + what)
        for file, book in zip(self.BOOKS.files, self.files(), strict=True):
            self.assertEqual(file.path, book["path"])
            self.assertEqual((True, [[0, file.windows()]], len(file.places), len(file.rejected)), tuple(
                book[key] for key in ("complete", "done", "read", "rejected")), "the books of %s, %s" % (file.path, what))
            self.assertEqual(len(file.documents), book["loaded"] + book["already"], what)
        self.assertEqual(0, self.load(*words)["read"])
        return counts

    def interrupt(self, numbers, draw, rounds):
        met, trial, seconds = 0, 0, self.seconds
        while trial < rounds or (not met and trial < rounds + 20):
            self.again()
            words = [*self.PACKED, "-j", draw.choice((1, 2, 4, 16)), "-b", draw.choice((20, 100, 1000))]
            moments = [draw.uniform(0, seconds * 1.05) for _ in range(draw.choice((1, 1, 2, 3)))]
            number = numbers[trial % len(numbers)]
            for moment in moments:
                met += self.stop(words, moment, number) < 0
            self.completed(words, "after signal %d in trial %d, %r at %r of %.3f s" % (
                number, trial, words, moments, seconds))
            trial += 1
            if not met:  # the first load was slower than these are
                seconds *= 0.8
        self.assertGreater(met, 0, "no signal met a load that was under way")

    def test_int_and_term(self):
        """SIGINT and SIGTERM at random moments, then the same command"""
        self.interrupt((signal.SIGINT, signal.SIGTERM), random.Random(11), self.TIMES)

    def test_kill(self):
        """SIGKILL at random moments, then the same command"""
        self.interrupt((signal.SIGKILL,), random.Random(12), self.TIMES)

    def test_books_are_closed(self):
        """an interrupted run says so in the books, and dies by the signal; a second SIGINT ends it as well"""
        self.again()
        pipe = self.start("-", *self.PACKED, stdin=-1)
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 0))
        pipe.send_signal(signal.SIGTERM)
        out = pipe.communicate(timeout=60)[0]
        self.assertEqual(-signal.SIGTERM, pipe.returncode)
        counts = livetest.Counts(json.loads(out))
        run, = self.loads()
        self.assertEqual([143, counts["read"], counts["loaded"], counts["rejected"]],
                         [run[key] for key in ("status", "read", "loaded", "rejected")])
        self.assertIn("interrupted", run["error"])
        self.assertEqual(counts["loaded"], self.client.count(self.database, "results"))
        twice = self.start("-", *self.PACKED, stdin=-1)
        self.assertTrue(livetest.wait_for(lambda: len(self.loads()) == 2))
        twice.send_signal(signal.SIGINT)
        twice.send_signal(signal.SIGINT)
        twice.communicate(timeout=60)
        self.assertEqual(-signal.SIGINT, twice.returncode)


if __name__ == "__main__":
    assert live.TIPPLE
    livetest.main(quick=())
