"""Ctrl-C while a load is under way, also with a server that does not answer: KeyboardInterrupt comes at once, and the same call
goes on.  needs: none"""
import os
import signal
import subprocess

import lab
import live
import pool

LOAD = """
import logging, sys, tipple
def progress(documents, size):
    if documents:
        print("under way", flush=True)
def work(**more):
    %s
try:
    work(progress=progress, max_rate="2k")
except KeyboardInterrupt:
    print("interrupted", flush=True)
result = work()
print(result.read + result.records_skipped, flush=True)
"""
FILES = "return tipple.load('a.csv', sys.argv[1], **more)"
PUSHES = """
    with tipple.Load(sys.argv[1], name="rows", memory="16M", **more) as load, open("a.csv", "rb") as lines:
        for line in lines:
            load.push(line)
    return load.result"""
ROWS = 20000


def setUpModule():
    lab.install()


class Interrupt(live.Case):
    @classmethod
    def setUpClass(cls):
        cls.use(pool.own())

    def setUp(self):
        super().setUp()
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        self.write("a.csv", "id,item\n" + "".join("%d,item\n" % row for row in range(ROWS)))
        self.mongod = self.state["members"][0]["pid"]

    def begin(self, program):
        # as at a terminal; who runs the tests in the background may have them ignore it
        process = lab.begin("import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + program, self.uri())
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def hears(self, process, word):
        while (line := process.stdout.readline()) != word + "\n":
            self.assertEqual("under way\n", line, process.poll() is not None and process.stderr.read())

    def goes_on(self, process):
        out, said = process.communicate(timeout=live.LONG)
        self.assertEqual((0, "%d\n" % ROWS, ""), (process.returncode, out.replace("under way\n", ""), said))
        self.assertEqual(ROWS, len(self.client.command(self.database, {"distinct": "results", "key": "id"})["values"]))
        self.assertEqual(ROWS, self.client.count(self.database, "results"))

    def test_plain(self):
        process = self.begin(LOAD % FILES)
        self.hears(process, "under way")
        process.send_signal(signal.SIGINT)
        self.hears(process, "interrupted")
        self.goes_on(process)

    def frozen(self, work):
        """The server answers nobody until the exception has come."""
        process = self.begin(LOAD % work)
        self.hears(process, "under way")
        os.kill(self.mongod, signal.SIGSTOP)
        try:
            process.send_signal(signal.SIGINT)
            self.hears(process, "interrupted")
        finally:
            os.kill(self.mongod, signal.SIGCONT)
        self.goes_on(process)

    def test_frozen(self):
        self.frozen(FILES)

    def test_frozen_pushes(self):
        """more than there is room for: in a push, or in the finish"""
        for width in 10, 2000:
            self.client.command(self.database, {"dropDatabase": 1})
            self.write("a.csv", "id,item\n" + "".join("%d,%s\n" % (row, "x" * width) for row in range(ROWS)))
            self.frozen(PUSHES)

    def test_next_waits(self):
        """the next load into the collection waits for the end of the one that was left, and a second Ctrl-C ends that wait"""
        process = self.begin((LOAD % FILES).replace("result = work()", "try: work()\nexcept KeyboardInterrupt: print('again', flush=True)\n"
                                                    "sys.stdin.read(); result = work()").replace(
            'print("interrupted", flush=True)', 'print("interrupted", flush=True); import threading; threading.Timer(1, print, ["waits"], {"flush": True}).start()'))
        self.hears(process, "under way")
        os.kill(self.mongod, signal.SIGSTOP)
        try:
            process.send_signal(signal.SIGINT)
            self.hears(process, "interrupted")
            self.hears(process, "waits")
            process.send_signal(signal.SIGINT)
            self.hears(process, "again")
        finally:
            os.kill(self.mongod, signal.SIGCONT)
        self.goes_on(process)

    def test_exit(self):
        """a program that catches nothing: the traceback comes at once; a second Ctrl-C ends the wait for the load's own end"""
        process = self.begin("import sys, tipple; tipple.load('a.csv', sys.argv[1], max_rate='2k', progress=lambda *_: print('under way', flush=True))")
        self.hears(process, "under way")
        os.kill(self.mongod, signal.SIGSTOP)
        try:
            process.send_signal(signal.SIGINT)
            while process.stderr.readline() != "KeyboardInterrupt\n":
                self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            process.wait(live.LONG)
        finally:
            os.kill(self.mongod, signal.SIGCONT)
        self.assertEqual(-signal.SIGINT, process.returncode)
        said = subprocess.run([live.TIPPLE, "load", "a.csv", "--uri", self.uri()], capture_output=True, text=True, timeout=live.LONG)
        self.assertEqual(0, said.returncode, said.stderr)
        self.assertEqual(ROWS, self.client.count(self.database, "results"))


if __name__ == "__main__":
    import unittest
    unittest.main()
