"""tools/test --fresh: nothing of a Debian that was tried is left, however its run ends."""
import contextlib
import os
import pathlib
import secrets
import signal
import subprocess
import time
import unittest

ROOT = pathlib.Path(os.environ["TIPPLE_ROOT"])
NOBODY = ["setpriv", "--reuid", "65534", "--clear-groups"]


def can(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def mounts():
    return pathlib.Path("/proc/mounts").read_text()


def running(word):
    """The processes with this word in their command line, wherever they were started."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:  # it has ended
            pass
    return found


def end(word):
    for process in running(word):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


@unittest.skipUnless(os.geteuid() == 0 and can("unshare", "--mount", "--pid", "--fork", "true"), "root can mount nothing")
class Inside(unittest.TestCase):
    """Here the machine's own / is the Debian."""

    def begin(self, *before):
        """Three processes, of which one has left the group and the session of the others."""
        word = "1000.%d" % secrets.randbelow(10**9)
        script = "setsid sleep %s & sleep %s & sleep %s" % (word, word, word)
        began = subprocess.Popen([*before, ROOT / "tools/lib/inside", "/", "sh", "-c", script], start_new_session=True,
                                 stdin=subprocess.DEVNULL)
        self.addCleanup(end, word)
        self.addCleanup(began.kill)
        self.assertTrue(wait_until(lambda: len(running("sleep\0" + word)) == 3), "they did not begin")
        return began, word

    def test_signals(self):
        """Ctrl-C, a signal to stop, a terminal that is closed, a kill"""
        before = mounts()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(number.name):
                began, word = self.begin()
                os.killpg(began.pid, number)
                self.assertNotEqual(0, began.wait(60))
                self.assertTrue(wait_until(lambda: not running(word)), running(word))
                self.assertEqual(before, mounts())

    def test_killed_starter(self):
        """whoever started it is killed"""
        began, word = self.begin("sh", "-c", '"$@" & wait', "-")
        began.kill()
        began.wait(60)
        self.assertTrue(wait_until(lambda: not running(word)), running(word))

    def test_end(self):
        """the command's own end, status and output; its mounts are not seen outside"""
        before = mounts()
        done = subprocess.run([ROOT / "tools/lib/inside", "/", "sh", "-c", "mount -t tmpfs mine /mnt; grep -c mine "
                               "/proc/mounts; sleep 1000 & exit 5"], stdout=subprocess.PIPE, timeout=60)
        self.assertEqual((5, b"1\n"), (done.returncode, done.stdout))
        self.assertEqual(before, mounts())


class Words(unittest.TestCase):
    def run_test(self, *words, before=()):
        return subprocess.run([*before, ROOT / "tools/test", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60)

    def test_refused(self):
        for words, said in (((), "bookworm, trixie or forky"), (("warty",), "bookworm, trixie or forky"),
                            (("trixie", "--quick"), "tools/test --fresh trixie -- --quick")):
            with self.subTest(words):
                done = self.run_test("--fresh", *words)
                self.assertEqual(1, done.returncode)
                self.assertIn(said, done.stdout)

    def test_without_root(self):
        """one line that says how, and status 0"""
        before = NOBODY if os.geteuid() == 0 else []
        if not can(*before, "test", "-w", "/dev/null", "-a", "-r", ROOT / "tools/test"):
            self.skipTest("nobody else can read this folder")
        done = self.run_test("--fresh", "trixie", before=before)
        self.assertEqual((0, 1), (done.returncode, done.stdout.count("\n")), done.stdout)
        self.assertIn("skipped: only root can make a Debian: sudo tools/test --fresh trixie", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
