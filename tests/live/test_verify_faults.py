"""A verify whose server falters, is cut off, or goes away; one that is interrupted: no false word about the data.
needs: replset; nightly on: standalone; locks: failpoints"""
import contextlib
import json
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.parse

import live
import livetest
import liveverify
from liveverify import readings
from minimongo import Int64


class Proxy:
    """Forwards to a server. `meddle(number, reply)` is asked about the reply to each find of `results`, from 1: the
    bytes that are sent on, and whether the connection is cut behind them."""

    def __init__(self, meddle):
        self.target = urllib.parse.urlsplit(live.URI).netloc.rpartition("@")[2].split(",")[0].rpartition(":")
        self.meddle, self.seen, self.lock, self.open = meddle, 0, threading.Lock(), []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        """Nobody is there any more."""
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for each in self.open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                self.open.append(client)
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    @staticmethod
    def message(stream):
        head = stream.read(4)
        return head + stream.read(struct.unpack("<i", head)[0] - 4) if len(head) == 4 else b""

    def serve(self, client):
        with contextlib.suppress(OSError), client, \
                socket.create_connection((self.target[0], int(self.target[2]))) as server, \
                client.makefile("rb") as requests, server.makefile("rb") as replies:
            while request := self.message(requests):
                server.sendall(request)
                more_to_come = struct.unpack_from("<I", request, 16)[0] & 1 << 16
                reply, cut = self.message(replies), False
                if b"\x02find\0\x08\0\0\0results\0" in request[:64]:
                    with self.lock:
                        self.seen += 1
                        reply, cut = self.meddle(self.seen, reply)
                client.sendall(reply)
                if cut or not reply:
                    return
                while more_to_come and (reply := self.message(replies)):  # a monitor's stream of hellos
                    client.sendall(reply)


class Faults(liveverify.Case):
    ROWS = 60_000

    def setUp(self):
        super().setUp()
        self.put("a.csv", readings(self.ROWS))
        self.load("a.csv")

    def through(self, meddle):
        proxy = Proxy(meddle)
        self.addCleanup(proxy.close)
        return proxy, ("--uri", "mongodb://127.0.0.1:%d/%s.results?directConnection=true" % (proxy.port, self.database))

    def test_forgotten_cursor(self):
        """a cursor that the server has forgotten: the block from its start, and all is found once"""
        first = self.id_at("a.csv", 5)
        for number in range(1, 9):  # more than one reply holds
            self.insert(*({"_id": Int64(first + number), "x": "y" * (3 << 20)},))
        expected = [("extra", "a.csv", 5)] * 8
        for code in (43, 237):
            self.client.command("admin", {"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": {
                "failCommands": ["getMore"], "namespace": self.database + ".results", "errorCode": code}})
            said = self.finds(expected, "a.csv")
            self.assertEqual((1, self.ROWS + 8, self.ROWS), tuple(said[field] for field in (
                "retries", "documents", "as_expected")))

    def test_cut_in_the_middle(self):
        """connections that are cut within replies: everything is looked at, no difference is invented"""
        for share in (0.0001, 0.3, 0.999):
            _, words = self.through(lambda number, reply: (reply[:int(len(reply) * share)], True) if number in (2, 4, 5)
                                    else (reply, False))
            said = self.finds([], "a.csv", *words)
            self.assertEqual((self.ROWS, self.ROWS), (said["documents"], said["as_expected"]))

    def test_changed_on_the_way(self):
        """a reply that was spoiled on its way: the second look finds the document as it is"""
        spoiled = []

        def spoil(number, reply):
            at = reply.find(b"\x02k\0\x04\0\0\0g77\0")
            if at < 0 or spoiled:
                return reply, False
            spoiled.append(number)
            return reply[:at + 7] + b"x" + reply[at + 8:], False
        _, words = self.through(spoil)
        self.finds([], "a.csv", *words)
        self.assertEqual(1, len(spoiled))
        _, words = self.through(lambda number, reply: (reply.replace(b"\x04\0\0\0g77\0", b"\x04\0\0\0h77\0"), False))
        self.assertEqual(self.texts["a.csv"].count(b",g77,"), self.verify("a.csv", *words, status=7)["changed"])

    def test_gone_in_the_middle(self):
        """a server that goes away and does not come back: status 4, and no document is called missing"""
        def leave(number, reply):
            if number == 3:
                threading.Thread(target=proxy.close).start()
            return (b"", True) if number >= 3 else (reply, False)
        proxy, words = self.through(leave)
        began = time.monotonic()
        said = self.verify("a.csv", "-j", 1, "--patience", "2s", *words, status=4)
        self.assertGreater(time.monotonic() - began, 1.9)
        self.assertEqual((0, 0), (said["missing"], len(said["differences"])))
        self.assertRegex(self.stderr, r"could not read .*--patience \(2.0 s\)")

    def begin(self, *words, json_wanted=True):
        words = [word for word in self.verify_words(*words) if json_wanted or word != "--json"]
        process = subprocess.Popen(self.command(*words), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL)

        def end():
            process.kill()
            process.communicate()
        self.addCleanup(end)
        return process

    def test_interrupted(self):
        """SIGINT and SIGTERM: what was found until then is said, nothing of the rest, and the process dies of the signal"""
        self.set(self.id_at("a.csv", 2), k="other")
        for number, answered, json_wanted in ((signal.SIGINT, True, True), (signal.SIGTERM, True, True),
                                              (signal.SIGINT, False, True), (signal.SIGINT, True, False)):
            waits, gate = threading.Event(), threading.Event()

            def look(found, reply, waits=waits, gate=gate):
                if found > 3:  # the first block has been looked at twice
                    waits.set()
                    gate.wait()
                return reply, False
            _, words = self.through(look)
            self.addCleanup(gate.set)
            process = self.begin("a.csv", "-j", 1, *words, json_wanted=json_wanted)
            self.assertTrue(livetest.wait_for(lambda: waits.is_set() or process.poll() is not None))
            self.assertIsNone(process.poll())
            process.send_signal(number)
            if answered:
                time.sleep(0.2)  # it may have heard of the signal by then, or not
                gate.set()
            out, err = process.communicate(timeout=livetest.LONG)
            gate.set()
            self.assertEqual(-number, process.returncode, err)
            self.assertIn(b"interrupted", err)
            if not json_wanted:
                self.assertRegex(out.decode(), r"(?m)^not finished: about [1-9]\d?% .* 1 changed; ")
                self.assertNotIn(b"none", out)
                continue
            said = json.loads(out)
            self.assertEqual((128 + number, False, 1, 0), (said["status"], said["ended"], said["changed"], said["missing"]))
            self.assertLess(said["documents"], self.ROWS)

    def test_no_room_for_the_result(self):
        """stdout that is full: status 8"""
        with open("/dev/full", "wb") as full:
            done = subprocess.run(self.command(*self.verify_words("a.csv")), cwd=self.folder, stdout=full,
                                  stderr=subprocess.PIPE, timeout=livetest.LONG)
        self.assertEqual(8, done.returncode)
        self.assertIn(b"stdout cannot be written", done.stderr)


if __name__ == "__main__":
    livetest.main()
