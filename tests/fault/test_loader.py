"""The loader is killed or stopped at any moment; the same command goes on, and every record is there once.
needs: none"""
import gzip
import json
import os
import signal
import zipfile

import faultlab
import livetest
import relay
from livetest import rows

TEXTS = {"a.csv": rows(8000, 1, bad=set(range(2000, 6000, 500))), "b.csv": rows(1000, 2, bad={1, 999}),
         "c.gz": rows(5000, 3, bad={200, 4500}), "d.zip!m.csv": rows(3000, 4)}
FILES = {"a.csv": TEXTS["a.csv"], "b.csv": TEXTS["b.csv"], "c.gz": gzip.compress(TEXTS["c.gz"], 1),
         "d.zip": livetest.zip_of(("m.csv", TEXTS["d.zip!m.csv"], zipfile.ZIP_DEFLATED))}
DOCUMENTS = sum(len(faultlab.bodies(text)) for text in TEXTS.values()) - len(faultlab.rejected(TEXTS))


class Ended:
    """With each kind of server."""

    def setUp(self):
        super().setUp()
        for name, content in FILES.items():
            self.write(name, content)
        self.load_pid = None

    def pid(self):
        """Of the load; a relay may see its first message before Popen gives it to us."""
        self.assertTrue(livetest.wait_for(lambda: self.load_pid))
        return self.load_pid

    def one_run(self, number, documents, at_books):
        """A load that meets a signal after that many acknowledged documents; true if it did."""
        verdict = self.draw.choice((relay.PASS, relay.CUT, relay.HALF_CUT))

        def act():
            os.kill(self.pid(), number)
            return verdict if number == signal.SIGKILL else relay.PASS
        moment = faultlab.BooksMoment(documents, act, self.draw.random() < 0.5) if at_books else \
            faultlab.Moment(documents, act)
        self.load_pid = None
        self.relayed(moment)
        load = self.start(*FILES, "-j", self.draw.choice((1, 2, 4)), "-b", self.draw.choice((20, 100, 200)))
        self.load_pid = load.pid
        counts, _ = self.over(load, (0, 2, 128 + number))
        if counts:
            self.assertEqual(livetest.ending(load.returncode), self.loads()[-1]["status"])
        return load.returncode == -number

    def ended(self, numbers, times, books):
        """`times` times, in one load if that lasts so long; else in the next one, into an empty target."""
        done, met, at_books, loads = 0, 0, 0, 1
        while met < times:
            left = DOCUMENTS - self.client.count(self.database, "results")
            if left < 1500:
                self.completed()
                self.client.drop_database(self.database)
                for kept in self.folder.glob("*.rejects"):
                    kept.unlink()
                done, loads, left = 0, loads + 1, DOCUMENTS
            of_books, number = self.draw.random() < books, self.draw.choice(numbers)
            met += self.one_run(number, self.draw.randint(1, left // (times - met + 1)), of_books)
            at_books += of_books
            blocks = self.done_is_there(TEXTS)
            self.assertGreaterEqual(blocks, done, "a block that was done is it no longer")
            done = blocks
        self.completed()
        self.verified(TEXTS, list(FILES), "the loader met %s %d times in %d load(s), %d of them while it wrote "
                      "its books" % (" or ".join(signal.Signals(each).name for each in numbers), times, loads,
                                     at_books))

    def completed(self):
        self.unrelayed()
        self.load(*FILES, status=(0, 2))

    def test_killed(self):
        """kill -9 at random moments of one load, again and again, then the same command"""
        self.ended((signal.SIGKILL,), 20 if livetest.NIGHTLY else 6, 0.4)

    def test_asked_to_end(self):
        """SIGTERM and SIGINT at random moments: what was settled is written down, and the rest comes later"""
        self.ended((signal.SIGTERM, signal.SIGINT), 6 if livetest.NIGHTLY else 3, 0)

    def test_books_are_closed(self):
        """an interrupted run says so in the books, and dies by the signal; a second SIGINT ends it as well"""
        pipe = self.start("-", *FILES, stdin=-1)
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 0))
        pipe.send_signal(signal.SIGTERM)
        out = pipe.communicate(timeout=livetest.LONG)[0]
        self.assertEqual(-signal.SIGTERM, pipe.returncode)
        counts = livetest.Counts(json.loads(out))
        run, = self.loads()
        self.assertEqual([143, counts["read"], counts["loaded"], counts["rejected"]],
                         [run[key] for key in ("status", "read", "loaded", "rejected")])
        self.assertIn("interrupted", run["error"])
        self.assertEqual(counts["loaded"], self.client.count(self.database, "results"))
        twice = self.start("-", *FILES, stdin=-1)
        self.assertTrue(livetest.wait_for(lambda: len(self.loads()) == 2))
        twice.send_signal(signal.SIGINT)
        twice.send_signal(signal.SIGINT)
        twice.communicate(timeout=livetest.LONG)
        self.assertEqual(-signal.SIGINT, twice.returncode)


class Standalone(Ended, faultlab.Lab):
    test_killed = livetest.nightly(Ended.test_killed)


class Majority(Ended, faultlab.Lab):
    server = "replset"
    test_books_are_closed = None
    test_asked_to_end = livetest.nightly(Ended.test_asked_to_end)


if __name__ == "__main__":
    livetest.main()
