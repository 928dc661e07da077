"""Servers that die, come back, elect another primary or run out of disk in the middle of a load.  needs: none"""
import contextlib
import ctypes
import functools
import gzip
import json
import os
import random
import re
import signal
import subprocess
import tempfile
import time
import unittest

import livetest
import minimongo as mongo
import mongods
from livetest import Books, rows

TEXT = rows(12000, 1, bad={77, 9000})
PACKED = gzip.compress(rows(6000, 2), 1)
STREAM = rows(8000, 3)
INPUTS = ("a.csv", "b.gz", "-", "--input-name", "s", "-b", "100", "-j", "4")


@functools.lru_cache(None)
def books():
    return Books().plain("a.csv", TEXT).gzip("b.gz", rows(6000, 2), PACKED).stream("s", STREAM)


class Broken(livetest.OwnServer):
    """A load that is held in its middle: half of its stream has come, the rest comes when we say so."""

    def setUp(self):
        super().setUp()
        self.write("a.csv", TEXT)
        self.write("b.gz", PACKED)

    def half(self, *words):
        load = self.start(*INPUTS, *words, stdin=subprocess.PIPE)
        load.stdin.write(STREAM[:len(STREAM) // 2])
        load.stdin.flush()
        self.assertTrue(livetest.wait_for(lambda: load.poll() is not None or self.client.count(self.database, "results") > 500))
        self.assertIsNone(load.poll(), "it ended too early")
        return load

    def rest(self, load):
        """Lets it end; its status, counts and words."""
        try:
            out, said = load.communicate(STREAM[len(STREAM) // 2:], timeout=120)
        except BrokenPipeError:  # it gave up before it had read all
            out, said = load.communicate(timeout=120)
        return livetest.ending(load.returncode), livetest.Counts(json.loads(out)) if out else None, said.decode()

    def completed(self, what):
        """The same command once more: everything is there, once, and each reject is kept once."""
        self.load(*INPUTS, stdin=STREAM, status=(0, 2))
        self.holds(books())
        self.assertEqual(sorted(books().rejected()), sorted((*entry[:3], entry[4]) for entry in self.entries()), what)
        self.assertTrue(all(file["complete"] for file in self.files()), what)
        self.assertEqual(len(books().documents()), sum(file["loaded"] + file["already"] for file in self.files()), what)


class Standalone(Broken):
    def test_killed(self):
        """a standalone killed in the middle and started again: what it lost is sent again, by the same command"""
        draw = random.Random(3)
        for trial in range(3):
            self.client.drop_database(self.database)
            for left in self.folder.glob("*.rejects"):
                left.unlink()
            load = self.half()
            time.sleep(draw.uniform(0, 0.3))
            self.down()
            self.up()
            self.reconnect()
            status, _, said = self.rest(load)
            self.assertIn(status, (2, 4), said)
            if status == 4:
                self.assertIn("the same command", said)
            self.completed("after kill %d" % trial)

    def test_restarted(self):
        """a standalone that is stopped gently and started again within the patience"""
        load = self.half()
        self.down(gently=True)
        self.up()
        self.reconnect()
        status, _, said = self.rest(load)
        self.assertIn(status, (2, 4), said)
        self.completed("after a restart")

    def test_stays_away(self):
        """a standalone that does not come back within the patience: status 4; the same command goes on later"""
        load = self.half("--patience", "1s")
        self.down()
        try:
            status, counts, said = self.rest(load)
            self.assertEqual(4, status, said)
            self.assertRegex(said, "the same command goes on")
        finally:
            self.up()
            self.reconnect()
        self.completed("after it came back")

    def test_dropped_meanwhile(self):
        """a collection that somebody drops during the load: status 4 with a sentence, never a quiet success"""
        load = self.half()
        self.client.command(self.database, {"drop": "results"})
        status, _, said = self.rest(load)
        self.assertEqual(4, status, said)
        self.assertRegex(said, "was dropped.*while it was loaded")
        self.load(*INPUTS, status=1)
        self.load(*INPUTS, "--drop", "--yes", stdin=STREAM, status=2)
        self.holds(books())


class ReplicaSet(Broken):
    options = {"replset": 3}

    def primary(self):
        address = self.client.command("admin", {"hello": 1})["primary"]
        return next(member for member in self.state["members"] if address.endswith(":%d" % member["port"]))

    def step_down(self):
        """Another member becomes the primary; our own client follows."""
        before = self.primary()
        try:
            self.client.command("admin", {"replSetStepDown": 60, "secondaryCatchUpPeriodSecs": 30})
        except mongo.CommandError:
            raise
        except (mongo.Error, OSError):
            pass  # older servers close the connection
        self.reconnect()
        self.assertNotEqual(before, self.primary())

    def test_1_step_down(self):
        """the primary steps down in the middle, twice: the load waits, and everything is there at its end"""
        load = self.half("--patience", "60s")
        self.step_down()
        load.stdin.write(STREAM[len(STREAM) // 2:len(STREAM) // 2 + 200000])
        load.stdin.flush()
        self.client.command("admin", {"replSetStepDown": 1, "force": True})
        self.reconnect()
        out, said = load.communicate(STREAM[len(STREAM) // 2 + 200000:], timeout=120)
        self.assertEqual(2, load.returncode, said)
        counts = livetest.Counts(json.loads(out))
        self.assertEqual((26000, 25998, 0, 2), tuple(counts[part] for part in livetest.PARTS[:4]))
        self.holds(books())
        self.assertEqual(0, self.load(*INPUTS, stdin=STREAM)["read"])

    def test_2_blocked_writes(self):
        """a server that blocks the writes of users: status 4 and whose doing it is; then the same command"""
        self.load("a.csv", "--limit", 10)
        self.client.command("admin", {"setUserWriteBlockMode": 1, "global": True})
        try:
            self.load("a.csv", "--patience", "1s", status=4)
            self.assertIn("setUserWriteBlockMode", self.stderr)
        finally:
            self.client.command("admin", {"setUserWriteBlockMode": 1, "global": False})
        self.load("a.csv", status=2)
        self.holds(Books().plain("a.csv", TEXT))

    def test_3_killed(self):
        """the primary is killed in the middle: the others elect, and nothing that was counted is missing"""
        load = self.half("--patience", "90s")
        os.kill(self.primary()["pid"], signal.SIGKILL)
        self.reconnect()
        status, counts, said = self.rest(load)
        self.assertEqual(2, status, said)
        self.assertEqual((26000, 25998, 0, 2), tuple(counts[part] for part in livetest.PARTS[:4]))
        self.holds(books())

    def test_4_no_majority(self):
        """two of three are gone: status 4 after the patience; back again, the same command goes on"""
        load = self.half("--patience", "2s")
        primary = self.primary()
        for member in self.state["members"]:
            if member is not primary:
                with contextlib.suppress(ProcessLookupError):  # the test before may have killed it
                    os.kill(member["pid"], signal.SIGKILL)
        status, _, said = self.rest(load)
        self.assertEqual(4, status, said)
        self.down()
        self.up()
        self.reconnect()
        self.completed("after two members were gone")


class FullDisk(livetest.OwnServer):
    """A server whose data lie on a small disk."""

    @classmethod
    def setUpClass(cls):
        cls.servers = tempfile.mkdtemp(prefix="disk-", dir=os.getcwd())
        cls.addClassCleanup(os.rmdir, cls.servers)
        # in a mount namespace of this process: nothing stays mounted, however it ends
        if ctypes.CDLL(None).unshare(0x00020000) or subprocess.run(
                "mount --make-rprivate / && exec mount -t tmpfs -o size=700m tipple-test %s" % cls.servers, shell=True,
                stderr=subprocess.DEVNULL, check=False).returncode:
            raise unittest.SkipTest("no small disk can be mounted here")
        cls.addClassCleanup(subprocess.run, ["umount", "-l", cls.servers], check=True)
        cls.addClassCleanup(mongods.stop, cls.servers, gently=False)
        cls.up()

    def test_full(self):
        """the server's disk runs full: status 4; with room again, the same command completes the load"""
        text = rows(60000)
        self.write("a.csv", text)
        statvfs = os.statvfs(self.servers)
        ballast = os.path.join(self.servers, "ballast")
        with open(ballast, "wb") as file:
            file.write(bytes(statvfs.f_bavail * statvfs.f_frsize - (3 << 20)))
        load = self.start("a.csv", "-", "--compressor", "none", "--patience", "3s", stdin=subprocess.PIPE)
        try:
            for _ in range(50):
                if load.poll() is not None:
                    break
                self.client.command("admin", {"fsync": 1})  # a checkpoint needs room
                time.sleep(0.1)
        except (mongo.Error, OSError):
            pass
        out, said = load.communicate(text, timeout=120)
        self.assertEqual(4, load.returncode, said)
        self.assertTrue(re.search(b"the same command|make room", said), said)
        livetest.Counts(json.loads(out))
        os.unlink(ballast)
        self.down()
        self.up()
        self.reconnect()
        self.load("a.csv")
        held = Books().plain("a.csv", text).documents()
        found = {mongo.decode(raw)["_id"]: raw for raw in self.documents(raw=True)}
        self.assertEqual([], [number for number in held if found.get(number) != held[number]][:5])


if __name__ == "__main__":
    livetest.main(quick=())
