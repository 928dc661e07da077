"""tools/server: what it starts can be used, and nothing of it is left, however it ends.
needs: none; nightly: a test of a tool"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import minimongo as mongo

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVER = [sys.executable, str(ROOT / "tools/server")]
SAY_PIDS = ["python3", "-c", "import os, signal, time, minimongo; signal.signal(signal.SIGINT, "
            "signal.SIG_DFL); c = minimongo.Client(os.environ['TIPPLE_TEST_URI']); "
            "print(c.command('admin', {'serverStatus': 1})['pid'], flush=True); time.sleep(100)"]


def alive(pid):
    """A process that has ended but was not yet waited for does not count."""
    try:
        return pathlib.Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Server(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.getcwd())
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.addCleanup(self.server, "down", "--dir", self.folder)

    def server(self, *words, status=0):
        done = subprocess.run([*SERVER, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
        self.assertEqual(status, done.returncode, done.stderr)
        return done.stdout.splitlines()[-1:] or [done.stderr]

    def up(self, *words, status=0):
        return self.server("up", "--dir", self.folder, *words, status=status)[0]

    def pids(self):
        state = json.loads((pathlib.Path(self.folder) / "server.json").read_text())
        return [member["pid"] for member in state["members"]]

    def gone(self, pids, seconds=300):
        deadline = time.monotonic() + seconds
        while any(map(alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual([], [pid for pid in pids if alive(pid)])

    def test_down_keeps_data_and_port(self):
        uri = self.up()
        with mongo.Client(uri) as client:
            client.insert("test", "here", [{"_id": 1}])
        self.assertIn("already running", self.up(status=1))
        self.assertEqual([uri], self.server("uri", "--dir", self.folder))
        pids = self.pids()
        self.server("down", "--dir", self.folder)
        self.assertFalse(any(map(alive, pids)))
        self.assertEqual(uri, self.up())
        with mongo.Client(uri) as client:
            self.assertEqual(1, client.count("test", "here"))
        with mongo.Client(self.up("--fresh")) as client:
            self.assertEqual(0, client.count("test", "here"))

    def test_run_gives_the_status_and_leaves_nothing(self):
        self.server("run", "--", "sh", "-c", "test $TIPPLE_TEST_KIND = standalone && exit 7", status=7)
        self.server("run", "--replset", "1", "--", "sh", "-c", "test $TIPPLE_TEST_KIND = replset", status=0)
        self.server("run", "--", "sh", "-c", "sleep 100 & setsid sleep 100 & kill -9 $$", status=137)

    def test_run_is_ended(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(number=number):
                run = subprocess.Popen([*SERVER, "run", "--", *SAY_PIDS], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, text=True)
                mongod = int(run.stdout.readline())
                run.send_signal(number)
                self.assertEqual(-number, run.wait(600))
                run.stdout.close()
                self.gone([mongod])


unittest.main()
