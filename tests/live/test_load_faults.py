"""What goes wrong on this side: inputs, this host, the command line. The right status, a sentence, nothing lost.
needs: replset; nightly on: standalone"""
import gzip
import json
import os
import resource
import signal
import subprocess
import zlib

import live
import livetest
from livetest import Books, rows


class Inputs(livetest.Case):
    def test_unreadable(self):
        """a file that this user may not read"""
        path = self.write("a.csv", rows(10))
        path.chmod(0)
        more = {}
        if os.getuid() == 0:
            more["user"] = 65534
            (self.folder / "..").resolve().chmod(0o755)
            self.folder.chmod(0o777)
        try:
            process = self.start("a.csv", **more)
        except PermissionError:
            self.skipTest("another user cannot run tipple here")
        said = process.communicate(timeout=livetest.LONG)[1].decode()
        self.assertEqual(5, process.returncode, said)
        self.assertIn("a.csv: this user may", said)

    def test_changes_while_read(self):
        """a file that changes while a load runs: status 5; what was read is loaded, and the rest by the same command"""
        pipes = ["p%d" % number for number in range(min(os.cpu_count(), 16))]
        for name in pipes:  # as many as there are feeders
            os.mkfifo(self.folder / name)
        for grows in (True, False):
            name = "grows.csv" if grows else "shrinks.csv"
            self.write(name, rows(3000, 7))
            load = self.start(*pipes, name)  # each feeder waits at a pipe first
            self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results.tipple.loads", {
                "ended": {"$exists": False}})), "the load has not begun")
            self.write(name, rows(6000 if grows else 2999, 7))
            for pipe in pipes:
                livetest.feed(self.folder / pipe, rows(5, 1))
            out, said = load.communicate(timeout=livetest.LONG)
            self.assertEqual(5, load.returncode, said)
            self.assertRegex(said.decode(), name + ": changed while")
            self.assertEqual(5 * len(pipes), livetest.Counts(json.loads(out))["loaded"])
        self.assertEqual(2 * 5 * len(pipes), self.client.count(self.database, "results"))
        self.assertEqual(6000, self.load("grows.csv")["loaded"])
        self.refused("shrinks.csv has changed", "shrinks.csv", status=5)


class Host(livetest.Case):
    def test_stderr_closed(self):
        """stderr and stdin closed do no harm"""
        self.write("a.csv", rows(3000, bad={7}))
        words = self.command(*self.words("a.csv"))
        done = subprocess.run(["sh", "-c", '"$@" <&- 2>&-', "sh", *words], cwd=self.folder, capture_output=True)
        self.assertEqual(2, done.returncode)
        self.holds(Books().plain("a.csv", rows(3000, bad={7})))
        kept = (self.folder / (self.database + ".results.rejects")).read_text()
        self.assertNotIn("rejected", kept.replace("# tipple rejects", ""), "talk went into the reject file")
        self.assertEqual(1, len(self.entries()))

    @staticmethod
    def shared_memory():
        """What the driver calls its counters there: mongoc-PID."""
        return {name for name in os.listdir("/dev/shm") if name.startswith("mongoc-")} if os.path.isdir("/dev/shm") else set()

    @staticmethod
    def is_left(name):
        return not os.path.exists("/proc/" + name.partition("-")[2])

    def test_tidy(self):
        """a load leaves no process, no connection, no temporary file, and writes nothing outside its folder"""
        home, temporary, inner = (self.folder / name for name in ("home", "tmp", "inner"))
        for folder in (home, temporary, inner):
            folder.mkdir()
        for seed, name in enumerate(("a.csv", "b.gz", "c.zip")):
            text = rows(300, seed + 1, bad={2})
            content = {"a": text, "b": gzip.compress(text), "c": livetest.zip_of(("m.csv", text, 8))}[name[0]]
            (inner / name).write_bytes(content)
        (inner / "n").write_bytes(zlib.compress(b"x"))

        def connections():
            return sum(entry.get("appName") == self.database[-30:] for entry in self.client.aggregate(
                "admin", 1, [{"$currentOp": {"allUsers": True, "idleConnections": True}}]) if not self.client.user)
        words = self.words("a.csv", "b.gz", "c.zip", "-", "--index", "k:1")
        words[4] += "&appName=" + self.database[-30:]
        words = self.command(*words)
        sealed = ["unshare", "--mount", "sh", "-c",
                  'mount --bind . . && mount -o remount,bind,ro / && cd "$PWD" && exec "$@"', "sh"]
        try:
            seal = subprocess.run([*sealed, "true"], cwd=inner, capture_output=True, check=False).returncode == 0
        except OSError:
            seal = False
        shared = self.shared_memory()
        done = subprocess.run([*(sealed if seal else []), *words], cwd=inner, input=rows(50, 9), capture_output=True,
                              start_new_session=True, env={**os.environ, "HOME": str(home), "TMPDIR": str(temporary)})
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertEqual(set(), {name for name in self.shared_memory() - shared if self.is_left(name)})
        self.assertEqual([[], []], [os.listdir(folder) for folder in (home, temporary)])
        self.assertEqual(["a.csv", "b.gz", "c.zip", "n", self.database + ".results.rejects"], sorted(os.listdir(inner)))
        self.assertTrue(livetest.wait_for(lambda: connections() == 0), "connections stayed open")
        if not seal:
            self.skipTest("no mount namespace here: only the folders themselves were looked at")


class Words(livetest.Case):
    def test_every_status(self):
        """each exit status of the table is reached: 0, 1, 2, 3, 4, 5, 8, 129, 130, 143"""
        self.write("a.csv", rows(300))
        self.write("b.csv", rows(300, 2, bad={5}))
        self.write("c.csv", rows(300, 3, bad={7, 8}))
        self.write("d.gz", gzip.compress(rows(300, 4))[:-20])
        self.write("e.csv", rows(300, 5, bad={9}))
        os.mkfifo(self.folder / "pipe")
        for status, words in ((0, ("a.csv",)), (1, ("a.csv", "--filter", "k==BMW")), (2, ("b.csv",)), (5, ("d.gz",)),
                              (3, ("c.csv", "--max-rejects", 1)), (1, ("c.csv", "--rejects", "no/such/folder/file")),
                              (1, ("c.csv", "--rejects", ".")), (8, ("e.csv",)),
                              (4, ("a.csv", "--patience", "200ms", "--uri", "mongodb://127.0.0.1:1/db.c"))):
            if status == 8:  # no room for the reject file
                done = subprocess.run(self.command(*self.words(*words)), cwd=self.folder, capture_output=True, check=False,
                                      timeout=livetest.LONG, restore_signals=False,  # SIGXFSZ is ignored
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
                self.assertEqual(8, done.returncode, done.stderr)
            else:
                self.load(*words, status=status)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            runs = len(self.loads())
            load = self.start("pipe")
            self.assertTrue(livetest.wait_for(lambda: len(self.loads()) > runs))
            load.send_signal(number)
            load.communicate(timeout=livetest.LONG)
            self.assertEqual(-number, load.returncode)  # a shell says 129, 130 and 143
        self.assertEqual([0, 2, 5, 3, 8, 129, 130, 143], [run["status"] for run in self.loads()])


if __name__ == "__main__":
    assert live.TIPPLE
    livetest.main()
