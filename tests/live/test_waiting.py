"""A server that is out of reach is named while the patience lasts, and why: a port that answers nothing, a name that nobody
knows. A closed port is a golden case: load-unreachable.
needs: none"""
import contextlib
import os
import pathlib
import socket
import struct
import subprocess
import threading
import unittest

import minimongo

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIPPLE = os.environ.get("TIPPLE", str(ROOT / "build/release/tipple"))


def answer(connection, hello):
    """Each message with this hello, until the other side leaves."""
    with connection, connection.makefile("rb") as stream:
        while len(head := stream.read(16)) == 16:
            length, request, _, opcode = struct.unpack("<iiii", head)
            stream.read(length - 16)
            said = minimongo.encode(hello)
            said = struct.pack("<iB", 0, 0) + said if opcode == 2013 else struct.pack("<iqii", 8, 0, 0, 1) + said
            connection.sendall(struct.pack("<iiii", 16 + len(said), 0, request, 2013 if opcode == 2013 else 1) + said)


class Waiting(unittest.TestCase):
    def first_line(self, port, *words):
        """The first line on stderr, and the rest."""
        process = subprocess.Popen([TIPPLE, "status", "--uri", "mongodb://joe:hunter2@127.0.0.1:%d/a.b" % port,
                                    "--patience", "3s", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        line = process.stderr.readline()
        rest = process.communicate(timeout=60)[1]
        self.assertEqual(4, process.returncode)
        self.assertNotIn("hunter2", line + rest)
        return line, rest

    def check(self, port):
        line, rest = self.first_line(port)
        self.assertRegex(line, r"^waiting: no answer from 127\.0\.0\.1:%d.*; --patience ends in \d" % port)
        self.assertRegex(rest, r"^tipple: could not connect [^\n]*--patience \(3\.0 s\)")

    def test_port_that_swallows(self):
        """a full queue of connections: packets are dropped, as by a firewall"""
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            waiting = [socket.socket() for _ in range(4)]
            for one in waiting:
                self.addCleanup(one.close)
                one.setblocking(False)
                one.connect_ex(listener.getsockname())
            self.check(listener.getsockname()[1])

    def test_server_without_words(self):
        """a connection is made, and nothing comes"""
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(20)
            self.check(listener.getsockname()[1])

    def test_names_of_a_container(self):
        """a server that answers, and whose set names members that nobody knows here: these are named, and what helps"""
        hello = {"ok": 1.0, "isWritablePrimary": True, "setName": "rs7", "hosts": ["db.test.invalid:27017"],
                 "me": "db.test.invalid:27017", "maxWireVersion": 17, "minWireVersion": 0}
        with socket.create_server(("127.0.0.1", 0)) as listener:
            def serve():
                with contextlib.suppress(OSError):
                    while True:
                        threading.Thread(target=answer, args=(listener.accept()[0], hello), daemon=True).start()
            threading.Thread(target=serve, daemon=True).start()
            port = listener.getsockname()[1]
            line, rest = self.first_line(port)
            self.assertIn("db.test.invalid", line)
            self.assertIn("db.test.invalid", rest)
            self.assertIn("directConnection=true", rest)

    def test_service(self):
        """mongodb+srv:// whose look-up fails, as while a name server is away: waited for as a host is, status 4"""
        done = subprocess.run([TIPPLE, "status", "--uri", "mongodb+srv://joe:hunter2@db.test.invalid/a.b",
                               "--patience", "1s"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(4, done.returncode, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^tipple: .* db\.test\.invalid: .* SRV record .*--patience \(1\.0 s\)")
        self.assertNotIn("hunter2", done.stderr)

    def test_quiet(self):
        """-q: only the error"""
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))
            line, rest = self.first_line(bound.getsockname()[1], "-q")
            self.assertTrue(line.startswith("tipple: could not connect"), line)
            self.assertEqual("", rest)


unittest.main()
