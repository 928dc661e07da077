"""The loader's machine runs out of file descriptors.  needs: none"""
import gzip
import queue
import resource
import subprocess
import threading
import zipfile

import faultlab
import livetest
import relay
from livetest import rows, tar_of

TEXTS = {"in/a.csv": rows(900, 1, bad={77, 500}), "in/b.gz": rows(500, 2), "in/c.zip!m.csv": rows(400, 3, bad={9}),
         "in/d.csv": rows(3500, 4), "in/e.zst": rows(300, 6), "in/f.tar!m.csv": rows(200, 7),
         "in/g.tgz!m.csv": rows(200, 8), "s": rows(300, 5)}
FILES = {"in/a.csv": TEXTS["in/a.csv"], "in/b.gz": gzip.compress(TEXTS["in/b.gz"], 1),
         "in/c.zip": livetest.zip_of(("m.csv", TEXTS["in/c.zip!m.csv"], zipfile.ZIP_DEFLATED)),
         "in/d.csv": TEXTS["in/d.csv"], "in/e.zst": livetest.zstd_frame(TEXTS["in/e.zst"], stated=False),
         "in/f.tar": tar_of(("m.csv", TEXTS["in/f.tar!m.csv"])),
         "in/g.tgz": gzip.compress(tar_of(("m.csv", TEXTS["in/g.tgz!m.csv"])))}
STREAM = TEXTS["s"]
WORDS = ("in", "-", "--input-name", "s", "-b", "100", "-j", "2", "--index", "k:1", "--filter", "t>=0")


class Descriptors(faultlab.Lab):
    def setUp(self):
        super().setUp()
        for name, content in FILES.items():
            self.write(name, content)

    def again(self):
        self.client.drop_database(self.database)
        for kept in self.folder.glob("*.rejects"):
            kept.unlink()

    def completed(self, did):
        self.unrelayed()
        self.load(*WORDS, stdin=STREAM, status=(0, 2))
        self.verified(TEXTS, WORDS, did, stdin=STREAM)

    def test_few(self):
        """too few file descriptors from the start: status 8 and what to do; then the same command completes the load"""
        limits, stopped = [4, 8, *sorted(self.draw.sample(range(9, 40), 7 if livetest.NIGHTLY else 2))], 0
        for limit in limits:
            self.again()
            load = self.start(*WORDS, stdin=subprocess.PIPE, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_NOFILE, (limit, limit)))
            with self.subTest(limit=limit):
                _, said = self.over(load, (0, 2, 8), STREAM)
                if load.returncode == 8:
                    stopped += 1
                    self.assertRegex(said, "open files.*ulimit -n")
            self.completed(None)
        self.assertGreater(stopped, 1)
        self.completed("%d loads had from 4 to %d file descriptors, and %d of them too few" % (
            len(limits), limits[-1], stopped))

    def test_none_left(self):
        """no more file descriptors in the middle, when connections were lost: status 8; then the same command"""
        started = queue.SimpleQueue()

        def act():
            resource.prlimit(started.get(), resource.RLIMIT_NOFILE, (3, 3))
            threading.Thread(target=self.relays.cut).start()  # not while the relays' lock is held
            return relay.CUT
        moment = faultlab.Moment(1500, act, lambda message: relay.CUT if moment.over else relay.PASS)
        self.relayed(moment)
        load = self.start(*WORDS, "--patience", "2s", stdin=subprocess.PIPE)
        started.put(load.pid)
        _, said = self.over(load, (8,), STREAM)
        self.assertRegex(said, "open files.*ulimit -n")
        self.completed("no file descriptor was left when connections were lost")


if __name__ == "__main__":
    livetest.main()
