"""Disks that are full or broken: the server's, the source's, and the one for rejects and results.  needs: none"""
import contextlib
import ctypes
import gzip
import os
import resource
import shutil
import subprocess
import tempfile
import unittest
import zipfile

import faultlab
import livetest
import mongods
from livetest import rows, tar_of


OLDER = '<!DOCTYPE html>\n<meta name="generator" content="tipple">\n<p>an older one\n'


def small_disk(folder, size):
    """Mounts a tmpfs of this size, in a mount namespace of this process: nothing stays mounted, however it ends."""
    if ctypes.CDLL(None).unshare(0x00020000) or subprocess.run(
            "mount --make-rprivate / && exec mount -t tmpfs -o size=%s tipple-test %s" % (size, folder), shell=True,
            stderr=subprocess.DEVNULL, check=False).returncode:
        raise unittest.SkipTest("no small disk can be mounted here")


def room(folder):
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


class Full:
    """A server that cannot write any more when some blocks of the load are done."""
    TEXT = rows(30000)
    SAYS = "."

    def fills(self, fill, empty, did):
        texts = {"a.csv": self.TEXT}
        self.write("a.csv", self.TEXT)
        moment = faultlab.HeldMoment(self.draw.randint(14000, 18000))
        self.relayed(moment)
        load = self.start("a.csv", "--compressor", "none", "--patience", "3s", "-b", "100", "-j", "4")
        self.assertTrue(livetest.wait_for(lambda: moment.over and self.done_is_there(texts) > 0))
        fill()
        moment.gate.set()
        _, said = self.over(load, (4,))
        self.assertRegex(said, "same command|make room")
        self.assertRegex(said, self.SAYS)
        self.unrelayed()
        empty()
        self.down()
        self.up()
        self.reconnect()
        blocks = self.done_is_there(texts)
        self.assertGreater(blocks, 0)
        self.load("a.csv", "--compressor", "none")
        self.verified(texts, ["a.csv"], "%s; %d blocks were done by then" % (did, blocks))


def fill_up(ballast, left):
    """Leaves this many bytes of its disk free."""
    with contextlib.suppress(OSError), open(ballast, "ab") as file:  # a server may be quicker
        file.write(bytes(max(room(os.path.dirname(ballast)) - left, 0)))


class Server(Full, faultlab.OwnLab):
    """A server whose data lie on a disk that fills."""
    SAYS = r"127[^ ]* has [34]\.\d(?s:.*) before that, [^,]*127[^ ]* had [\d.]+ MB of 10\d MB free"

    @classmethod
    def setUpClass(cls):
        cls.servers = tempfile.mkdtemp(prefix="disk-", dir=os.getcwd())
        cls.addClassCleanup(os.rmdir, cls.servers)
        small_disk(cls.servers, "96m")
        cls.addClassCleanup(subprocess.run, ["umount", "-l", cls.servers], check=True)
        cls.addClassCleanup(mongods.stop, cls.servers, gently=False)
        cls.up()

    def test_full(self):
        """the server's disk runs full: status 4 and what to do; with room again, the same command completes the load"""
        ballast = os.path.join(self.servers, "ballast")
        left = self.draw.randint(0, 1 << 20)
        fill_up(ballast, 4 << 20)
        self.fills(lambda: fill_up(ballast, left), lambda: os.unlink(ballast),
                   "the server's disk (a tmpfs) ran full, %d kB were left" % (left >> 10))


class Member(faultlab.OwnLab):
    """A replica set with logins, one of whose members has a small disk."""
    options = {"replset": 3, "auth": True}

    @classmethod
    def setUpClass(cls):
        cls.servers = tempfile.mkdtemp(prefix="disks-", dir=os.getcwd())
        cls.addClassCleanup(shutil.rmtree, cls.servers, True)
        small = os.path.join(cls.servers, "data2")
        os.mkdir(small)
        small_disk(small, "96m")
        cls.addClassCleanup(subprocess.run, ["umount", "-l", small], check=True)
        cls.addClassCleanup(mongods.stop, cls.servers, gently=False)
        cls.up()

    def test_full(self):
        """one member's disk is nearly full: a warning of that member; it dies, and the others take the load"""
        member = self.state["members"][2]
        ballast = os.path.join(self.servers, "data2", "ballast")
        fill_up(ballast, 4 << 20)
        self.write("a.csv", rows(30))  # so few that the member lives until it is asked
        with open(self.folder / "said", "wb") as said:
            load = self.start_held("a.csv", stderr=said)
        self.assertTrue(livetest.wait_for(lambda: b"is full" in (self.folder / "said").read_bytes()))
        load.communicate()
        warned = [line for line in (self.folder / "said").read_text().splitlines() if "is full" in line]
        self.assertEqual((0, 1), (load.returncode, len(warned)), warned)
        self.assertRegex(warned[0], "the disk of 127.0.0.1:%d has" % member["port"])
        fill_up(ballast, 0)
        self.write("b.csv", rows(60000, 2))
        self.load("b.csv", "--compressor", "none")
        self.assertEqual(60030, self.client.count(self.database, "results"))


@livetest.nightly
class Limited(Full, faultlab.OwnLab):
    """Where no disk can be mounted a limit of the size of files does."""

    def test_full(self):
        """the server's files may not grow any more: the same"""
        most = self.draw.randint(300 << 10, 1500 << 10)
        self.fills(lambda: resource.prlimit(self.state["members"][0]["pid"], resource.RLIMIT_FSIZE,
                                            (most, resource.RLIM_INFINITY)),
                   lambda: None, "the server's files could not grow beyond %d kB (a limit)" % (most >> 10))


class Source(faultlab.Lab):
    @faultlab.needs_shim
    def test_unreadable(self):
        """a source that cannot be read from some byte on (EIO): status 5, what came before is loaded; then the rest"""
        text = rows(10000, 1, bad={5, 7000})
        for name, path, content in (
                ("a.csv", "a.csv", text), ("a.gz", "a.gz", gzip.compress(text, 1)),
                ("a.zip", "a.zip!m.csv", livetest.zip_of(("m.csv", text, zipfile.ZIP_DEFLATED))),
                ("a.tar", "a.tar!m.csv", tar_of(("m.csv", text))),
                ("a.tgz", "a.tgz!m.csv", gzip.compress(tar_of(("m.csv", text)))),
                ("-", "s", text)):
            self.client.drop_database(self.database)
            for kept in self.folder.glob("*.rejects"):
                kept.unlink()
            with self.subTest(name=name):
                self.unreadable(name, path, content, text)

    def unreadable(self, name, path, content, text):
        file = self.write(name if name != "-" else "stream", content)
        status = os.stat(file)
        # anywhere, and beyond what is looked at before anything is written
        for share in ((0, 0.9), (0.4, 0.6)):
            at = int(self.draw.uniform(*share) * len(content))
            shim = self.shimmed(READ="%d:%d:%d:%d" % (status.st_dev, status.st_ino, at, at + 4096))
            words = [name, "--input-name", "s"] if name == "-" else [name]
            with open(file, "rb") as stdin:
                _, said = self.over(self.start(*words, "-b", "100", env=shim, stdin=stdin), (5,))
            self.assertRegex(said, r": byte \d+: .*input/output error")
        there = self.client.count(self.database, "results")
        if name != "a.tgz":  # which is read as a whole before the first document is sent
            self.assertGreater(there, 0, "what came before was not loaded")
        more = {"stdin": content} if name == "-" else {}
        self.load(*words, status=(0, 2), **more)
        self.verified({path: text}, words, "%s could not be read at byte %d of %d; %d documents were there then" % (
            name, at, len(content), there), **more)

    def test_shrinks(self):
        """a source that becomes shorter while it is read: status 5; as it was again, the same command completes it"""
        text = rows(40000, 2, bad={30000})
        file = self.write("a.csv", text)
        left = self.draw.randint(len(text) // 2, len(text) - 1)
        moment = faultlab.Moment(self.draw.randint(1, 3000), lambda: os.truncate(file, left))
        self.relayed(moment)
        counts, said = self.over(self.start("a.csv", "-j", "1", "--memory", "16M", "-b", "100"), (5,))
        self.assertIn("changed while", said)
        self.assertLess(counts["read"], 40000)
        self.unrelayed()
        self.write("a.csv", text)
        self.load("a.csv", status=(0, 2))
        self.verified({"a.csv": text}, ["a.csv"], "the file lost its last %d of %d bytes while it was read" % (
            len(text) - left, len(text)))


class Rejects(faultlab.Lab):
    BAD = set(range(100, 3000, 60))

    def setUp(self):
        super().setUp()
        self.text = rows(4000, 3, bad=self.BAD)
        self.write("a.csv", self.text)

    def test_full(self):
        """the disk for the rejects runs full (a tmpfs): status 8; with room again, the same command completes it"""
        disk = self.folder / "disk"
        disk.mkdir()
        small_disk(disk, "64k")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(room(disk) - 4096 * self.draw.randint(1, 2)))
        words = ["a.csv", "--rejects", "disk/rejects", "-b", "100"]
        self.load(*words, status=8)
        self.assertRegex(self.stderr, "disk/rejects .*No space left")
        written = (disk / "rejects").stat().st_size
        ballast.write_bytes(bytes(ballast.stat().st_size + room(disk)))
        (disk / "none").touch()
        counts = self.load("a.csv", "--rejects", "disk/none", "-b", "100", status=8, collection="other")
        self.assertEqual((0, None), ((disk / "none").stat().st_size, counts["rejects"]))
        self.load(*words, status=8)
        ballast.unlink()
        self.load(*words, status=(0, 2))
        self.verified({"a.csv": self.text}, words, "the disk for the rejects was full at %d bytes" % written,
                      rejects="disk/rejects")

    def test_full_for_a_report(self):
        """the disk for the report runs full (a tmpfs): status 8, the load is whole, and the older report stands"""
        disk = self.folder / "disk"
        disk.mkdir()
        small_disk(disk, "256k")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        (disk / "load.html").write_text(OLDER)
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(room(disk)))
        words = ["a.csv", "--report", "disk/load.html"]
        self.load(*words, status=8)
        self.assertRegex(self.stderr, "report disk/load.html .*No space left")
        self.assertEqual(OLDER, (disk / "load.html").read_text())
        self.assertEqual({"load.html", "ballast"}, {path.name for path in disk.iterdir()})
        self.verified({"a.csv": self.text}, ["a.csv"], "the disk for the report was full")
        ballast.unlink()
        self.load(*words, status=(0, 2))
        self.assertNotIn("an older one", (disk / "load.html").read_text())

    def test_limited(self):
        """the reject file may not grow any more, again and again: it is cut in the middle of an entry each time"""
        sizes, size = [], 0
        while True:
            size += self.draw.randint(500, 4000)
            load = self.start("a.csv", "-b", "100", preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY)))
            _, said = self.over(load, (0, 2, 8))
            if load.returncode != 8:
                break
            self.assertRegex(said, "rejects .*File too large")
            sizes.append(size)
        self.assertGreater(len(sizes), 2)
        self.verified({"a.csv": self.text}, ["a.csv"], "the reject file could not grow beyond %s bytes" % sizes)

    def test_stdout(self):
        """stdout closed or full: status 8, and everything is loaded all the same"""
        text = rows(500)
        self.write("b.csv", text)
        for number, redirect in enumerate((">/dev/full", ">&- 2>&-", "</dev/null >&-")):
            words = self.command(*self.words("b.csv", "--drop", "--yes", json_wanted=bool(number % 2)))
            done = subprocess.run(["sh", "-c", '"$@" ' + redirect, "sh", *words], cwd=self.folder, capture_output=True)
            self.assertEqual(8, done.returncode, "%s: %s" % (redirect, done.stderr))
            if "2>&-" not in redirect:
                self.assertIn(b"stdout cannot be written", done.stderr)
            self.verified({"b.csv": text}, ["b.csv"], "stdout was %s" % redirect)


if __name__ == "__main__":
    livetest.main()
