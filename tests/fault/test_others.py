"""Loads of the same files that come and go at the same target.  needs: none"""
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


class Majority(Others, faultlab.Lab):
    server = "replset"


@livetest.nightly
class Standalone(Others, faultlab.Lab):
    pass


if __name__ == "__main__":
    livetest.main()
