"""relay: a proxy before a server that knows where messages end, and does to each what a test's rule says.

    def rule(message):
        if message.reply and message.command == "insert":
            return relay.CUT  # the documents are there, and nobody knows
        return relay.PASS
    with relay.Relays([port], rule) as relays:
        uri = relays.rename(uri)

A rule may also give the seconds to wait before the message goes on, a threading.Event to wait for, or the bytes of
another message to send in its place (answer, without). Rules are asked one at a time, whatever the connection.
"""
import contextlib
import itertools
import socket
import struct
import threading
import time

import minimongo as mongo

PASS, CUT, HALF, HALF_CUT = "pass", "cut", "half", "half, then cut"
OP_MSG, BODY = 2013, 21  # where the command begins in an OP_MSG that begins with it, as all drivers' do


class Message:
    """One question (a command on its way to the server) or its reply, which knows its `question`: the numbers of
    messages repeat, as each connection counts its own. `inserted`: the documents that an insert has brought, or that
    its reply has acknowledged. `place`: how many came before it this way on its connection."""
    place = 0

    def __init__(self, raw, question=None):
        self.raw, self.question, self.reply = raw, question, question is not None
        self.number, _, code = struct.unpack_from("<4xiii", raw)
        self.command, self.collection, self.inserted = "hello", "", 0  # what is not distinguished
        if question:
            self.command, self.collection = question.command, question.collection
            if self.command == "insert" and code == OP_MSG:
                self.inserted = mongo.decode(raw[BODY:]).get("n", 0)
        elif code == OP_MSG:
            end = raw.index(b"\0", BODY + 5)
            self.command = raw[BODY + 5:end].decode()
            if raw[BODY + 4] == 2:
                length, = struct.unpack_from("<i", raw, end + 1)
                self.collection = raw[end + 5:end + 4 + length].decode(errors="replace")
            if self.command == "insert":
                self.inserted = sum(1 for _ in self.documents())

    @property
    def books(self):
        return ".tipple." in self.collection

    def documents(self):
        """The raw documents of an insert."""
        length, = struct.unpack_from("<i", self.raw, BODY)
        at = BODY + length
        if at + 5 >= len(self.raw) or self.raw[at] != 1:
            return
        end = at + 1 + struct.unpack_from("<i", self.raw, at + 1)[0]
        at = self.raw.index(b"\0", at + 5) + 1
        while at < end:
            size, = struct.unpack_from("<i", self.raw, at)
            yield self.raw[at:at + size]
            at += size


def packed(head, *sections):
    """An OP_MSG with the numbers of another message."""
    body = bytes(4) + b"".join(sections)
    return struct.pack("<i", 16 + len(body)) + head.raw[4:16] + body


def answer(message, document):
    """A reply of our own in place of the server's."""
    return packed(message, b"\0" + mongo.encode(document))


def without(message, left_out):
    """An insert that has lost the documents at these places. Where none are left, it is a ping."""
    documents = [raw for place, raw in enumerate(message.documents()) if place not in left_out]
    if not documents:
        return packed(message, b"\0" + mongo.encode({"ping": 1, "$db": "admin"}))
    length, = struct.unpack_from("<i", message.raw, BODY)
    section = b"documents\0" + b"".join(documents)
    return packed(message, message.raw[BODY - 1:BODY + length], b"\1", struct.pack("<i", 4 + len(section)), section)


class Relay:
    """Before one port. `rename` is applied to what servers say: other addresses, as long as the old ones."""

    def __init__(self, port, rule, rename, change):
        self.port, self.rule, self.rename, self.change = port, rule, rename, change
        self.lock, self.ends = threading.Lock(), set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self.port))
                except OSError:
                    client.close()
                    continue
                self.ends.update((client, server))
                questions = {}
                for source, sink, answers in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self.pump, args=(source, sink, questions, answers), daemon=True).start()

    def pump(self, source, sink, questions, answers):
        places = itertools.count()
        with contextlib.suppress(OSError, ValueError), source.makefile("rb") as stream:
            while head := stream.read(16):
                raw = head + stream.read(struct.unpack_from("<i", head)[0] - 16)
                raw = self.rename(raw) if answers else self.change(raw)
                message = Message(raw, questions.pop(struct.unpack_from("<i", raw, 8)[0], HELLO) if answers else None)
                message.place = next(places)
                if not answers:
                    questions[message.number] = message
                with self.lock:
                    verdict = self.rule(message) or PASS
                if isinstance(verdict, bytes):
                    raw, verdict = verdict, PASS
                if isinstance(verdict, threading.Event):
                    verdict.wait()
                    verdict = PASS
                elif not isinstance(verdict, str):
                    time.sleep(verdict)
                    verdict = PASS
                if verdict in (HALF, HALF_CUT):
                    sink.sendall(raw[:len(raw) // 2])
                    if verdict == HALF:  # the rest never comes
                        while stream.read(1):
                            pass
                        break
                if verdict != PASS:
                    break
                sink.sendall(raw)
        self.end(source, sink)

    def end(self, *ends):
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            self.ends.discard(end)

    def cut(self):
        """Ends every connection."""
        self.end(*list(self.ends))


HELLO = Message(struct.pack("<iiii", 16, 0, 0, 0))


class Relays:
    """Before the servers at these ports, which know each other by 127.0.0.1:PORT. names: other addresses that answers
    shall have in place of real ones. change: of questions' bytes."""

    def __init__(self, ports, rule=lambda message: PASS, names=None, change=lambda raw: raw):
        self.relays = [Relay(port, rule, self.rename_bytes, change) for port in ports]
        self.names = {b"127.0.0.1:%d" % relay.port: relay.address.encode() for relay in self.relays}
        self.names.update(names or {})
        assert all(len(old) == len(new) for old, new in self.names.items()), "addresses of unlike length"
        self.set_rule(rule)
        for relay in self.relays:
            threading.Thread(target=relay.serve, daemon=True).start()

    def set_rule(self, rule):
        lock = threading.Lock()  # one for all of them
        for relay in self.relays:
            relay.rule, relay.lock = rule, lock

    def rename_bytes(self, raw):
        for old, new in self.names.items():
            raw = raw.replace(old, new)
        return raw

    def rename(self, uri):
        return self.rename_bytes(uri.encode()).decode()

    def cut(self):
        for relay in self.relays:
            relay.cut()

    def close(self):
        for relay in self.relays:
            with contextlib.suppress(OSError):
                relay.listener.shutdown(socket.SHUT_RDWR)  # who waits there wakes up
            relay.listener.close()
        self.cut()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
