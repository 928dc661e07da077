"""The moving line of a load, in a terminal of its own: never wider than the terminal, never backwards, gone at the end.
needs: standalone"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import livetest

RECORDS, RATE = 20000, 16000


class Progress(livetest.Case):
    def in_terminal(self, columns, *words, narrower=None, **environment):
        """What a command writes to a terminal of that many columns, which becomes narrower at the first bar."""
        command = self.command("load", "--format", "mot", "--uri", self.uri(), "--drop", "--yes", *words, "a.csv")
        said, deadline = b"", time.monotonic() + livetest.LONG
        process, terminal = pty.fork()
        if not process:
            os.chdir(self.folder)
            os.environ.update({"TERM": "xterm", **environment})
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execvp(command[0], command)
        try:
            while time.monotonic() < deadline and select.select([terminal], [], [], livetest.LONG)[0]:
                try:
                    got = os.read(terminal, 65536)
                except OSError:  # its end
                    break
                if narrower and b"%" in said + got:
                    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, narrower, 0, 0))
                    self.narrow_from, narrower = len(said) + len(got), None
                said += got
        finally:
            os.close(terminal)
            if time.monotonic() >= deadline:
                os.kill(process, signal.SIGKILL)
        self.assertEqual(0, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), said)
        return said

    def bars(self, said):
        return [bar.decode() for bar in re.findall(rb"\r([^\r\n\x1b]+)\x1b\[K", said)]

    def check(self, said, columns):
        bars = self.bars(said)
        shares = [int(share) for bar in bars for share in re.findall(r"(\d+)%", bar)]
        self.assertGreater(len(shares), 2, said)
        self.assertEqual(sorted(shares), shares)
        self.assertLessEqual(shares[-1], 100)
        self.assertEqual([], [bar for bar in bars if len(bar) >= columns])
        self.assertRegex(said, rb"\r\x1b\[Kread 20,000 = loaded 20,000 ")  # the line is empty when the result comes
        return bars

    def test_widths(self):
        """as much as there is room for, also when the terminal becomes narrower"""
        self.write("a.csv", livetest.rows(RECORDS))
        slow = ("--max-rate", str(RATE))
        wide = self.check(self.in_terminal(120, *slow, NO_COLOR="1"), 120)
        self.assertRegex(wide[-1], r"^\[[#-]{20}\] +\d+%   [\d.]+ [kM]B/[\d.]+ MB   [\d,]+ docs   [\d.]+k docs/s")
        self.check(self.in_terminal(40, *slow), 40)
        said = self.in_terminal(120, *slow, narrower=30)
        self.assertEqual([], [bar for bar in self.bars(said[self.narrow_from:]) if len(bar) >= 30])

    def test_none(self):
        """none for programs, and none where nothing can be overwritten"""
        self.write("a.csv", livetest.rows(RECORDS))
        self.assertNotIn(b"%", self.in_terminal(120, "--max-rate", str(RATE), "--json").split(b"{")[0])
        said = self.in_terminal(120, "--max-rate", str(RATE), TERM="dumb")
        self.assertNotIn(b"\x1b", said)
        self.assertEqual(said.count(b"\r"), said.count(b"\r\n"))


livetest.main()
