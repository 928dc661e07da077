"""Loads that go slower than they could: --max-rate N and --max-rate auto.
needs: replset; nightly on: standalone; locks: failpoints"""
import json
import signal
import time

import livetest
from livetest import Books, rows


class Rate(livetest.Case):
    def test_interrupted(self):
        """Ctrl-C of a load at one document a second: a clean end at once; the same command without the rate goes on"""
        text = rows(12000, bad={3, 11999})
        self.write("a.csv", text)
        for number, threads in ((signal.SIGINT, 4), (signal.SIGTERM, 1)):
            before = self.client.count(self.database, "results")
            load = self.start("a.csv", "--max-rate", 1, "-j", threads)
            self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > before))
            load.send_signal(number)
            out, said = load.communicate(timeout=livetest.LONG)
            # a clean end, or else the grace would be over: it says so, and there is no account
            self.assertEqual(-number, load.returncode, said)
            self.assertNotIn(b"not end in time", said)
            self.assertIn(b"the same command", said)
            counts = livetest.Counts(json.loads(out))
            self.assertEqual(128 + number, counts["status"])
            self.assertLess(counts["loaded"], 1000)
        counts = self.load("a.csv", status=2)
        self.assertEqual(12000, counts["read"] + counts["records_skipped"])
        self.holds(Books().plain("a.csv", text))

    def test_interrupted_while_fixing(self):
        """the same while fixed records wait for their turn"""
        text = rows(300, bad=set(range(100, 300)))
        self.write("a.csv", text)
        self.load("a.csv", status=2)
        kept = (self.folder / ("%s.results.rejects" % self.database)).read_bytes()
        fixed = b"\n".join(line + b"|2001-01-01" if line.startswith(b"1000") else line for line in kept.split(b"\n"))
        self.write("fixed", fixed)
        load = self.start("--retry", "fixed", "--max-rate", 1)
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 100))
        load.send_signal(signal.SIGINT)
        _, said = load.communicate(timeout=livetest.LONG)
        self.assertEqual(-signal.SIGINT, load.returncode, said)
        self.assertNotIn(b"not end in time", said)
        counts = self.load("--retry", "fixed")
        self.assertEqual(200, counts["loaded"] + counts["already_there"])
        self.assertEqual(300, self.client.count(self.database, "results"))


class Auto(livetest.Case):
    def test_server_that_stands_still(self):
        """a server that takes nothing for a while: waited for, not given up; what waited is complete afterwards"""
        text = rows(15000)
        self.write("a.csv", text)
        load = self.start("a.csv", "--max-rate", "auto", "-j", 4)
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 500))
        self.client.command("admin", {"fsync": 1, "lock": True})
        try:
            time.sleep(1.5)
        finally:
            self.client.command("admin", {"fsyncUnlock": 1})
        out, said = load.communicate(timeout=livetest.LONG)
        self.assertEqual(0, load.returncode, said)
        self.assertEqual(15000, livetest.Counts(json.loads(out))["loaded"])
        self.holds(Books().plain("a.csv", text))


if __name__ == "__main__":
    livetest.main()
