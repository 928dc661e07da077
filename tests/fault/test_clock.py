"""The clocks of the loader's machine jump, or stand still: nothing hangs, and nothing is lost.  needs: none"""
import gzip
import mmap
import struct
import threading
import time

import faultlab
import livetest
import relay
from livetest import rows

TEXTS = {"a.csv": rows(5000, 1, bad={77, 4999}), "b.gz": rows(2000, 2)}
FILES = {"a.csv": TEXTS["a.csv"], "b.gz": gzip.compress(TEXTS["b.gz"], 1)}
WORDS = (*FILES, "-b", "50", "-j", "4")
DOCUMENTS = 6998
HOUR, DAY, YEAR = 3600 * 10**9, 86400 * 10**9, 365 * 86400 * 10**9
LONG = 600  # seconds in which everything here ends, on any machine, unless a clock is believed that should not be


class Clocks:
    """What the shim examines."""

    def __init__(self, path):
        path.write_bytes(bytes(16))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 16)

    def jump(self, ns):
        """The time of day, from where it really is."""
        self.map[0:8] = struct.pack("<q", ns)

    def stand(self, still):
        """The monotonic clock."""
        self.map[8:16] = struct.pack("<q", still)


@faultlab.needs_shim
class Jumps(faultlab.Lab):
    server = "replset"

    def setUp(self):
        super().setUp()
        for name, content in FILES.items():
            self.write(name, content)
        self.clocks = Clocks(self.folder / "clocks")

    def begin(self, *words):
        return self.start(*WORDS, *words, env=self.shimmed(CLOCK=self.folder / "clocks"))

    def ended(self, load, status):
        """In time, whatever the clocks say."""
        began = time.monotonic()
        counts, _ = self.over(load, status)
        self.assertLess(time.monotonic() - began, LONG)
        return counts

    def every(self, documents, act):
        """A rule that calls act() each time that many documents were acknowledged."""
        seen = [0, 0]

        def rule(message):
            if faultlab.is_acknowledgement(message):
                seen[0] += message.inserted
                if seen[0] >= (seen[1] + 1) * documents:
                    seen[1] += 1
                    act()
            return relay.PASS
        return rule, seen

    def test_jumps(self):
        """the time of day jumps to and fro, from an hour to 30 years"""
        rule, seen = self.every(400, lambda: self.clocks.jump(
            self.draw.choice((-20 * YEAR, -DAY, -HOUR, 0, HOUR, DAY, 30 * YEAR))))
        self.relayed(rule)
        counts = self.ended(self.begin(), (2,))
        self.assertEqual(DOCUMENTS, counts["loaded"])
        self.unrelayed()
        self.verified(TEXTS, WORDS, "the time of day jumped %d times" % seen[1])

    def test_stands_still(self):
        """the monotonic clock stands still for seconds, again and again"""
        rule, seen = self.every(2000, lambda: self.clocks.stand(1))
        self.relayed(rule)
        load = self.begin()
        over = threading.Event()

        def go_on():
            while not over.wait(self.draw.uniform(0.5, 2)):
                self.clocks.stand(0)
        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            counts = self.ended(load, (2,))
        finally:
            over.set()
            thread.join()
        self.assertEqual(DOCUMENTS, counts["loaded"])
        self.unrelayed()
        self.verified(TEXTS, WORDS, "the monotonic clock stood still %d times" % seen[1])

    def away(self, *words):
        """A load that has lost its server."""
        self.lost = threading.Event()
        moment = faultlab.Moment(self.draw.randint(1, DOCUMENTS // 2), lambda: self.lost.set() or relay.CUT)
        moment.rule = lambda message: relay.CUT if self.lost.is_set() else relay.PASS
        self.relayed(moment)
        load = self.begin(*words)
        self.assertTrue(livetest.wait_for(lambda: moment.over or load.poll() is not None))
        return load

    def test_while_the_server_is_away(self):
        """the clocks jump and stand still while the server is away: the load goes on when it is back"""
        load = self.away("--patience", "3m")
        for jump in (DAY, -DAY, -20 * YEAR):
            time.sleep(0.7)  # somewhere in its waiting
            self.clocks.jump(jump)
        self.clocks.stand(1)
        time.sleep(2)
        self.clocks.stand(0)
        self.lost.clear()
        self.ended(load, (2,))
        self.unrelayed()
        self.verified(TEXTS, WORDS, "the clocks jumped while the server was away")

    def test_patience(self):
        """the clock jumps back by a day while the server is away: the patience is over in time all the same"""
        load = self.away("--patience", "3s")
        self.clocks.jump(-DAY)
        self.ended(load, (4,))
        self.unrelayed()
        self.clocks.jump(0)
        self.load(*WORDS, status=(0, 2))
        self.verified(TEXTS, WORDS, "the clock jumped back by a day, and the patience was over in time")

    def test_while_it_waits_for_another_load(self):
        """the clock jumps back by a day while a load waits for another one to be done"""
        held = faultlab.HeldMoment(self.draw.randint(1, DOCUMENTS // 2))
        self.relayed(held)
        first = self.start(*WORDS)
        self.assertTrue(livetest.wait_for(lambda: held.over))
        relays, self.relays = self.relays, None
        self.addCleanup(relays.close)
        second = self.begin("--rejects", "second.rejects")
        self.assertTrue(livetest.wait_for(lambda: len(self.loads()) == 2))
        time.sleep(1)
        self.clocks.jump(-DAY)
        time.sleep(0.5)
        held.gate.set()
        self.over(first, (0, 2))
        self.ended(second, (0, 2))
        for kept in self.folder.glob("second.rejects"):
            kept.unlink()
        self.load(*WORDS, status=(0, 2))
        self.verified(TEXTS, WORDS, "the clock jumped back by a day while a load waited for another one")


if __name__ == "__main__":
    livetest.main()
