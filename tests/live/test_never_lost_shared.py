"""Several loads of one collection, which are killed, suspended for longer than their lease, or in each other's way: who
says 0 has told the truth.  needs: none; nightly on: standalone replset cluster; nightly: loads are killed at random moments"""
import signal
import threading
import time

import livetest
import neverlost
from livetest import rows


class Shared(neverlost.Case):
    def slowly(self, rate, *words, **more):
        return self.start("-j", "1", "-b", "50", "--max-rate", str(rate), "--patience", "10m", *words, **more)

    def truthful(self, load, texts, status=(0,)):
        """A load that ends with 0 has told the truth at that moment."""
        counts, _ = self.ended(load, status)
        if load.returncode == 0:
            self.exact(texts, "a load ended with 0")
        return counts

    # ------------------------------------------------------------------------------------------ small files

    def test_many_small_files(self):
        """three loads of three hundred small files, which begin at the same moment"""
        texts = self.inputs({"in/%03d.csv" % number: rows(2, number + 1) for number in range(300)})
        for load in [self.start("-j", "2", "in") for _ in range(3)]:
            self.truthful(load, texts)
        self.complete(texts, "in")

    def test_a_small_file_does_not_wait(self):
        """a small file is loaded while another load, which has nothing to do with it, goes on"""
        texts = self.inputs({"g1.csv": rows(10, 1), "g2.csv": rows(10, 2)})
        other = self.start_held("g1.csv")
        self.wait_for_documents(10, other)
        counts, _ = self.ends_by_itself(self.start("g2.csv"))
        self.assertEqual(10, counts["loaded"])
        more = rows(5, 3)
        self.ended(other, (0,), more)
        self.exact({**texts, "-": more})

    # ------------------------------------------------------------------------------------------ leases

    def test_a_slow_tail_is_not_taken_over(self):
        """a load that has read all and sends slowly, for longer than a lease, keeps its file: it is alive"""
        texts = self.inputs({"a.csv": rows(1000, 2)})
        first = self.slowly(max(1, int(1000 / (2.2 * self.lease))), "a.csv")
        self.wait_for_documents(1, first)
        second = self.start("-j", "1", "a.csv")
        counts, others = self.truthful(first, texts), self.truthful(second, texts)
        self.assertEqual((1000, 0), (counts["loaded"], others["loaded"]), "a live load was taken over")
        self.complete(texts)

    # ------------------------------------------------------------------------------------------ all at once

    @livetest.nightly
    def test_kills_and_pauses(self):
        """three loads share a thousand small files and three large ones, and are killed, or suspended for longer than
        their lease, again and again"""
        texts = {"in/%04d.csv" % number: rows(2, number + 1) for number in range(1000)}
        texts.update({"in/large%d.csv" % number: rows(20000, 2000 + number) for number in range(3)})
        self.inputs(texts)
        loads, timers, did = [], [], {"kill": 0, "pause": 0}
        total = 62000

        def go_on(load):
            if load.poll() is None:
                load.send_signal(signal.SIGCONT)

        def reap():
            for load in [load for load in loads if load.poll() is not None]:
                loads.remove(load)
                self.truthful(load, texts, (0, 137))

        for number in range(12):
            reap()
            while len(loads) < 3:
                loads.append(self.start("-j", "2", "-b", self.draw.choice(("20", "200")), "--max-rate", "2k",
                                        "--patience", "10m", "--rejects", "rejects.%d" % number, "in"))
            goal = min(self.there() + self.draw.randint(1, 4000), total)
            deadline = time.monotonic() + self.draw.uniform(0.2, 4)
            livetest.wait_for(lambda: self.there() >= goal or time.monotonic() > deadline)
            load = self.draw.choice(loads)
            if load.poll() is not None:
                continue
            if self.draw.random() < 0.6:
                did["kill"] += 1
                load.kill()
                load.wait()
            else:
                did["pause"] += 1
                load.send_signal(signal.SIGSTOP)
                timers.append(threading.Timer(self.draw.uniform(1.2, 1.8) * self.lease, go_on, (load,)))
                timers[-1].start()
        for timer in timers:
            timer.join()
        while loads:
            loads[0].wait(livetest.LONG)
            reap()
        self.finished(texts, "in")
        self.said("%(kill)d kills, %(pause)d pauses" % did)


if __name__ == "__main__":
    neverlost.main()
