"""The loader's machine runs out: of memory at any allocation, of file descriptors.  needs: none"""
import gzip
import os
import queue
import resource
import signal
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


class Host(faultlab.Lab):
    def setUp(self):
        super().setUp()
        for name, content in FILES.items():
            self.write(name, content)

    def again(self):
        self.client.drop_database(self.database)
        for kept in self.folder.glob("*.rejects"):
            kept.unlink()


@faultlab.needs_shim
class Memory(Host):
    """Each place in the program that allocates fails at its first call, as far as the samples go, and others at a
    random one; some then fail on and on. The places are those of a load that runs well."""
    FIX = b"|2000-01-31"

    def killed(self):
        """A load that was killed in its middle."""
        self.again()
        started = queue.SimpleQueue()
        self.relayed(faultlab.Moment(1500, lambda: os.kill(started.get(), signal.SIGKILL)))
        load = self.start(*WORDS, stdin=subprocess.PIPE)
        started.put(load.pid)
        self.over(load, (137,), STREAM)
        self.unrelayed()

    def fixed(self):
        """A load with rejects, which are fixed."""
        self.again()
        self.load(*WORDS, stdin=STREAM, status=2)
        kept, = self.folder.glob("*.rejects")
        lines = kept.read_bytes().split(b"\n")
        after = [False] + [line.startswith(b"#@") for line in lines]
        kept.write_bytes(b"\n".join(line + self.FIX if head else line for line, head in zip(lines, after)))
        return kept.name

    def sites(self, *words):
        """(place, how often a load allocates there) of the load that now follows."""
        self.load(*words, stdin=STREAM, status=(0, 2), **self.shimmed(SITES=self.folder / "sites"))
        with open(self.folder / "sites") as lines:
            return [(int(site), int(count)) for site, count in map(str.split, lines)]

    def samples(self, sites, count):
        count = count if livetest.NIGHTLY else count // 4
        self.draw.shuffle(sites)
        chosen = [(site, 1) for site, _ in sites[:count]]
        while len(chosen) < count:
            site, most = self.draw.choice(sites)
            chosen.append((site, self.draw.randint(1, most)))
        return chosen

    def fails_at(self, site, number, *words):
        """A load in which this allocation fails: it ends with status 8 and a sentence, or does without."""
        fail = "%d:%d%s" % (site, number, self.draw.choice(("", "", ":on")))
        done = self.tipple(*self.words(*words), status=None, stdin=STREAM, **self.shimmed(FAIL=fail))
        with self.subTest(place=hex(site), fail=fail):
            self.assertIn(done.returncode, (0, 2, 8), done.stderr[-2000:])
            if done.returncode == 8:
                self.assertRegex(done.stderr, "(?m)^tipple: (?!warning).*(memory|threads)")
        return done.returncode == 8

    def run_samples(self, prepare, count, what):
        """count: how many loads of a kind; in the ordinary run a quarter of them."""
        prepare()
        stopped, sites = 0, self.sites(*WORDS)
        for site, number in self.samples(sites, count):
            prepare()
            stopped += self.fails_at(site, number, *WORDS)
            self.load(*WORDS, stdin=STREAM, status=(0, 2))
            self.all_is_there(TEXTS)
        self.verified(TEXTS, WORDS, "%s: allocations failed, of %d places; %d loads stopped with status 8" % (
            what, len(sites), stopped), stdin=STREAM)

    def test_fresh(self):
        """an allocation fails, at samples of a small load: status 8 and a sentence, never a crash"""
        self.run_samples(self.again, 120, "new loads")

    def test_resumed(self):
        """the same, at samples of a load that goes on after a kill"""
        self.run_samples(self.killed, 60, "loads that went on after a kill")

    def test_fixed(self):
        """the same, at samples of a load of fixed rejects"""
        words = ("--retry", self.fixed(), "-b", "1", *WORDS[-2:])
        sites, stopped = self.sites(*words), 0
        expected = {}
        for book in self.files():
            text = TEXTS[book["path"]]
            expected.update(self.file_documents(book, TEXTS)[0])
            for offset, _, record, body in faultlab.bodies(text):
                if body is None:
                    number = livetest.record_id_make(book["_id"], offset, book["extents"][0]["base"])
                    expected[number] = livetest.document(number, livetest.body_of(record + self.FIX))
        self.holds(expected)
        for site, number in self.samples(sites, 20):
            self.fixed()
            stopped += self.fails_at(site, number, *words)
            self.load(*words)
            self.holds(expected)
        faultlab.say("fixed rejects: allocations failed, of %d places; %d loads stopped with status 8" % (
            len(sites), stopped), len(expected))


class Descriptors(Host):
    def completed(self, did):
        self.unrelayed()
        self.load(*WORDS, stdin=STREAM, status=(0, 2))
        self.verified(TEXTS, WORDS, did, stdin=STREAM)

    def test_few(self):
        """too few file descriptors from the start: status 8 and what to do; then the same command completes the load"""
        limits, stopped = [4, 5, 8, *sorted(self.draw.sample(range(9, 40), 7))], 0
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
        self.assertGreater(stopped, 2)
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
