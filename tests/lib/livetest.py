"""livetest: an independent reading of MOT data, and runs of `tipple load` that are checked against it.

    class Plain(livetest.Case):
        def test_small(self):
            '''What this proves, in one line.'''
            text = livetest.rows(1000)
            self.write("a.csv", text)
            self.load("a.csv")
            self.holds(livetest.Books().plain("a.csv", text))

Documents and `_id`s are computed here from the text alone; nothing is asked of tipple.
"""
import contextlib
import datetime
import functools
import io
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
import zipfile

import live
import minimongo as mongo
import mongods
import pool
from live import LONG

NIGHTLY = os.environ.get("TIPPLE_NIGHTLY") == "1"
SOAK = os.environ.get("TIPPLE_SOAK") == "1"
WINDOW, MIB, STREAM = 256 << 10, 1 << 20, 64 << 30
NAMES = (b"test_id|vehicle_id|test_date|test_class_id|test_type|test_result|test_mileage|postcode_area|make|model"
         b"|colour|fuel_type|cylinder_capacity|first_use_date")
FIELDS = (("t", "int"), ("v", "int"), ("d", "date"), ("c", "code"), ("y", "code"), ("r", "code"), ("m", "int"),
          ("s", "code"), ("k", "text"), ("o", "text"), ("u", "text"), ("f", "code"), ("e", "int"), ("i", "date"))
KEYS, KINDS = zip(*FIELDS)
TARS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
LANES = [int("{:010b}".format(number)[::-1], 2) for number in range(1024)]
BEGINNING = struct.Struct("<i5sq").pack
nightly = unittest.skipUnless(NIGHTLY, "only with TIPPLE_NIGHTLY=1")


# ------------------------------------------------------------------------------------------------------- data

def rows(count, seed=1, header=True, delimiter=b"|", end=b"\n", bad=()):
    """MOT text; the records whose numbers are in `bad` have a field too few."""
    return _rows(count, seed, header, delimiter, end, frozenset(bad))


@functools.lru_cache(64)
def _rows(count, seed, header, delimiter, end, bad):
    draw = random.Random(seed)
    cars = [(b"FORD", b"FIESTA", b"PE"), (b"VAUXHALL", b"CORSA", b"DI"), (b"BMW", b"3 SERIES", b"PE"),
            (b"CITRO\xc3\x8bN", b"C4", b"DI"), (b"SKODA", b"", b"NULL")]
    lines = [NAMES.replace(b"|", delimiter)] if header else []
    for number in range(count):
        make, model, fuel = cars[draw.randrange(len(cars))]
        fields = [b"%d" % (seed * 10**8 + number), b"%d" % draw.randrange(1, 2**31 + 1000),
                  b"2016-%02d-%02d" % (draw.randrange(1, 13), draw.randrange(1, 29)), b"4", b"NT",
                  draw.choice((b"P", b"F ", b"PRS")), draw.choice((b"NULL", b"", b"%d" % draw.randrange(200000))),
                  draw.choice((b"B", b"SW")), make, model, draw.choice((b"RED", b"BLUE", b"")), fuel,
                  b"%d" % draw.choice((998, 1598, 1997)), b"20%02d-01-31" % draw.randrange(16)]
        lines.append(delimiter.join(fields[:13] if number in bad else fields))
    return b"".join(line + end for line in lines)


@functools.lru_cache(1 << 16)
def element(key, kind, text):
    """One field of a document as BSON, by the rules of the format: padding of codes, fillers, numbers, dates."""
    name = key.encode() + b"\0"
    if kind == "code":
        text = text.strip(b" ")
    if text == b"" or (text == b"NULL" and kind != "text"):
        return b""
    if kind == "int" and (text.isdigit() or re.fullmatch(rb" *[+-]?[0-9]+ *", text)):
        value = int(text)
        return b"\x10" + name + struct.pack("<i", value) if -2**31 <= value < 2**31 else \
            b"\x12" + name + struct.pack("<q", value)
    if kind == "date" and re.fullmatch(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        with contextlib.suppress(ValueError):  # an impossible date stays text
            day = datetime.date.fromisoformat(text.decode()) - datetime.date(1970, 1, 1)
            return b"\x09" + name + struct.pack("<q", day.days * 86400000)
    try:
        text.decode()
    except UnicodeDecodeError:
        text = text.decode("latin-1").encode()
    return b"\x02" + name + struct.pack("<i", len(text) + 1) + text + b"\0"


def body_of(record, delimiter=b"|"):
    """The elements of a record's document after its _id, or None when no document can be made of it."""
    fields = record.split(delimiter)
    if len(fields) < 14:
        return None
    if len(fields) > 14:  # delimiters in the model
        fields[9:-4] = [delimiter.join(fields[9:-4])]
    return b"".join(map(element, KEYS, KINDS, fields))


def record_id_make(ordinal, offset, base):
    """Design: int64( lane << 53 | voff ), lane = the 10 bits of (ordinal + offset / 256 KiB) mod 1024, reversed."""
    return LANES[(ordinal + offset // WINDOW) % 1024] << 53 | base + offset


def document(number, body):
    return BEGINNING(len(body) + 18, b"\x12_id\0", number) + body + b"\0"


def records(text):
    """(offset, line from 1, record) of each line that is neither blank nor a header."""
    offset = len(b"\xef\xbb\xbf") if text.startswith(b"\xef\xbb\xbf") else 0
    for number, line in enumerate(text[offset:].split(b"\n"), 1):
        record = line[:-1] if line.endswith(b"\r") else line
        if record and not record.startswith(b"test_id"):
            yield offset, number, record
        offset += len(line) + 1


class File:
    """One file as the books should have it, and what of it the collection should hold. extents: (base, start) pairs."""

    def __init__(self, ordinal, extents, kind, path, text, disk=0, delimiter=b"|"):
        self.ordinal, self.extents, self.kind, self.path, self.text, self.disk = ordinal, extents, kind, path, text, disk
        self.documents, self.rejected, self.places = {}, [], {}
        base, start = extents[0]
        for offset, line, record in records(text):
            if len(extents) > 1:
                base, start = max((extent for extent in extents if extent[1] <= offset), key=lambda extent: extent[1])
            body, number = body_of(record, delimiter), record_id_make(ordinal, offset, base - start)
            self.places[number] = (offset, line, record)
            if body is None:
                self.rejected.append((offset, line, record))
            else:
                self.documents[number] = document(number, body)

    def windows(self):
        return -(-len(self.text) // WINDOW)


class Books:
    """Files in the order in which a load meets them: each takes the next whole MiBs, and ordinals: one, a plain file
    as many as it has windows (modulo 1024, 1 to 1024), so that the next file's lanes go on where its own end. Numbers
    are never given out twice, so after a drop they go on as well: `after` are the books of before."""

    def __init__(self, after=None):
        self.files, self.units = [], []
        self.unit, self.ordinal = (after.unit, after.ordinal) if after else (0, 0)

    def add(self, kind, path, text, bound, disk, delimiter=b"|"):
        self.files.append(File(self.ordinal, [(self.unit * MIB, 0)], kind, path, text, disk, delimiter))
        self.ordinal += (-(-bound // WINDOW) - 1) % 1024 + 1 if kind == "plain" and bound else 1
        self.units.append(max(1, -(-bound // MIB)))
        self.unit += self.units[-1]
        return self

    def plain(self, path, text, **more):
        return self.add("plain", path, text, len(text), len(text), **more)

    def gzip(self, path, text, packed, **more):
        return self.add("gzip", path, text, 1032 * len(packed), len(packed), **more)

    def stream(self, path, text, **more):
        return self.add("stream", path, text, STREAM, 0, **more)

    def documents(self):
        return {number: raw for file in self.files for number, raw in file.documents.items()}

    def rejected(self):
        return [(file.path, *place) for file in self.files for place in file.rejected]


COUNTS = ("read", "loaded", "already", "rejected", "filtered", "corrected")


def joined(runs):
    """Runs of blocks, ascending, those that touch as one."""
    result = []
    for begin, end in sorted(runs):
        assert not result or begin >= result[-1][1], "a block is done twice: %r" % (sorted(runs),)
        if result and begin == result[-1][1]:
            result[-1][1] = end
        else:
            result.append([begin, end])
    return result


def piece_of(piece, version, generation):
    """One piece of an input; fields that are nothing are not there. The tail (its last block, which may grow) counts when the piece is complete."""
    believed, complete = piece.get("generation", 0) == generation, piece.get("complete", 0)
    nothing = {"from": 0, "to": 0}
    tail = piece.get("tail", nothing) if believed and complete else nothing
    done = [run[:2] for run in piece.get("done", [])] if believed else []
    if tail["from"] < tail["to"]:
        done.append([tail["from"], tail["to"]])
    marks = bytes(piece["rejects"]) if "rejects" in piece else b""
    return {"complete": believed and complete >= version, "done": joined(done), "owner": piece["owner"],
            "epoch": piece["epoch"], "rejects": [struct.unpack_from("<QQ", marks, at) for at in range(0, len(marks), 16)],
            **{count: (piece.get(count, 0) if believed else 0) + tail.get(count, 0) for count in COUNTS}}


def input_of(entry, generation):
    """An entry of the catalog as the tests see it, whatever its layout: _id (the ordinal), path, kind, version, size
    and digest (of the newest version; none of a stream), extents, complete, done (runs of blocks), the counts of all
    pieces together, rejects ((offset, hash) each) and pieces with their owner and epoch."""
    newest = entry["versions"][entry["version"] - 1]
    last = len(entry["pieces"]) - 1
    pieces = [piece_of(piece, entry["version"] if number == last else 1, generation)
              for number, piece in enumerate(entry["pieces"])]
    plain = {"_id": entry["_id"], "path": entry["path"], "kind": entry["kind"], "version": entry["version"],
             "size": newest["size"], "extents": entry["extents"], "removed": entry.get("removed", False),
             "fixes": entry.get("fixes", {}), "pieces": pieces, "complete": all(piece["complete"] for piece in pieces),
             "done": joined(run for piece in pieces for run in piece["done"]),
             "rejects": [mark for piece in pieces for mark in piece["rejects"]],
             **{count: sum(piece[count] for piece in pieces) for count in COUNTS}}
    if newest["digest"]:
        plain["digest"] = newest["digest"]
    return plain


def zstd_frame(text, stated=True):
    """A real frame of stored blocks, with or without its content size."""
    blocks, step = [], 128 << 10
    for at in range(0, len(text) or 1, step):
        piece = text[at:at + step]
        blocks.append(struct.pack("<I", len(piece) << 3 | (at + step >= len(text)))[:3] + piece)
    head = b"\xe0" + struct.pack("<Q", len(text)) if stated else b"\x00\x38"
    return b"\x28\xb5\x2f\xfd" + head + b"".join(blocks)


def zip_of(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text, method in members:
            archive.writestr(zipfile.ZipInfo(name), text, method)
    return out.getvalue()


def tar_of(*members, kind="pax", more=()):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=TARS[kind]) as archive:
        for name, body in members:
            info = tarfile.TarInfo(name)
            info.size = len(body)
            info.mtime = 1400000000.5 if kind == "pax" else 1400000000
            archive.addfile(info, io.BytesIO(body))
        for name, type_, link in more:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = type_, link
            archive.addfile(info)
    return out.getvalue()


# ----------------------------------------------------------------------------------------------------- running

LINE = re.compile(r"^read ([\d,]+) = loaded ([\d,]+) \+ already there ([\d,]+) \+ rejected ([\d,]+) \+ "
                  r"filtered ([\d,]+)$", re.M)
PARTS = ("read", "loaded", "already_there", "rejected", "filtered")


class Counts(dict):
    """What a load said of itself; its parts add up, or there is no such object."""

    def __init__(self, said):
        super().__init__(said)
        assert self["read"] == sum(self[part] for part in PARTS[1:]), "the accounting does not add up: %r" % said


def text_counts(stdout):
    found = LINE.search(stdout.decode())
    return Counts(zip(PARTS, (int(number.replace(",", "")) for number in found.groups()))) if found else None


def ending(returncode):
    """The exit status as a shell says it."""
    return returncode if returncode >= 0 else 128 - returncode


def ports_of(pid):
    """Where the connections of a process begin, as a server names them."""
    sockets = set()
    with contextlib.suppress(OSError):  # it has ended
        for number in os.listdir("/proc/%d/fd" % pid):
            sockets.add(os.readlink("/proc/%d/fd/%s" % (pid, number)))
    with open("/proc/net/tcp") as table:
        lines = [line.split() for line in table][1:]
    return ["127.0.0.1:%d" % int(line[1].rpartition(":")[2], 16) for line in lines if "socket:[%s]" % line[9] in sockets]


class Case(live.Case):
    """A test with a collection `results` of its own."""
    format = "mot"  # or the name of a YAML in the test's folder; None: what the files look like

    def words(self, *words, json_wanted=True, collection="results"):
        named = "./%s" % self.format if str(self.format).endswith(".yaml") else self.format
        return ["load", *(["--format", named] if named else []), "--uri", self.uri(collection),
                *(["--json"] if json_wanted else []), *words]

    def verified(self, *names, status=0):
        """What `tipple verify --json` says of the files."""
        done = self.tipple("verify", *self.words(*names)[1:], status=status)
        return json.loads(done.stdout)

    def load(self, *words, status=0, collection="results", **more):
        """Loads; checks the exit status, that the status is in the JSON, and that the counts add up. The result is
        None where nothing was printed; `.stderr` of it holds what was said."""
        allowed = status if isinstance(status, tuple) else (status,)
        done = self.tipple(*self.words(*words, collection=collection), status=None, **more)
        self.stderr = done.stderr
        self.assertIn(ending(done.returncode), allowed, "the exit status of tipple load %s\n%s%s" % (
            " ".join(map(str, words)), done.stdout.decode(errors="replace")[-2000:], done.stderr[-2000:]))
        if not done.stdout:
            return None
        said = json.loads(done.stdout)
        self.assertEqual(ending(done.returncode), said["status"])
        return Counts(said)

    def refused(self, pattern, *words, collection="results", status=1, **more):
        """A sentence and its status, and nothing was touched (except for the run's own entry in the catalog)."""
        before = self.everything()
        self.load(*words, status=status, collection=collection, **more)
        self.assertRegex(self.stderr, pattern)
        after = self.everything()
        for name in [name for name in before if name.endswith(".tipple.loads")]:
            before[name] = after.get(name)
        self.assertEqual(before, after, "something was touched by a load that was refused")

    def start(self, *words, **more):
        """A load in the background; it ends with the test at the latest."""
        return self.background(*self.words(*words), **more)

    def background(self, *words, **more):
        """The same of any command."""
        process = subprocess.Popen(self.command(*words), cwd=self.folder, **{
            "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})

        def end():
            process.kill()
            process.communicate()
        self.addCleanup(end)
        return process

    def suspend(self, pid):
        """Suspends a process, and waits until each of its threads has stopped: on a busy host one may go on for a while."""
        os.kill(pid, signal.SIGSTOP)
        threads = pathlib.Path("/proc/%d/task" % pid)
        self.assertTrue(wait_for(lambda: all(
            (thread / "stat").read_text().rsplit(")", 1)[1].split()[0] == "T" for thread in threads.iterdir())))

    def kill(self, process):
        """Kills a load, and waits until the server has done what it had received of it."""
        process.send_signal(signal.SIGSTOP)
        ports = ports_of(process.pid)
        process.kill()
        process.communicate()
        of_it = [{"$currentOp": {"allUsers": True, "idleConnections": True}}, {"$match": {"client": {"$in": ports}}},
                 {"$count": "connections"}]
        wait_for(lambda: not self.client.command("admin", {"aggregate": 1, "pipeline": of_it, "cursor": {}})["cursor"][
            "firstBatch"])

    def patiently(self, trial):
        """trial(patience), where a patience that is over is meant to be met: a short one does where the server is quick,
        but a busy host may not have come so far by then. The last one is long enough anywhere."""
        for patience in ("1s", "10s"):
            try:
                return trial(patience)
            except (AssertionError, TypeError, ValueError) as failed:  # without an account there is nothing to examine
                print("        not within %s: %s" % (patience, str(failed)[:300]), flush=True)
        return trial("90s")

    def start_held(self, *words, **more):
        """A load that is not over before its stdin is closed, as by communicate()."""
        return self.start(*words, "-", stdin=subprocess.PIPE, **more)

    def everything(self):
        """Each collection of the database with its UUID and the server's hash of its documents; of a cluster with the
        documents, since a router has no dbHash."""
        listed = self.client.command(self.database, {"listCollections": 1})["cursor"]["firstBatch"]
        if live.KIND == "cluster":
            return {entry["name"]: (entry["info"].get("uuid"), self.documents(entry["name"], raw=True)) for entry in listed}
        hashes = self.client.command(self.database, {"dbHash": 1})["collections"] if listed else {}
        return {entry["name"]: (entry["info"].get("uuid"), hashes.get(entry["name"])) for entry in listed}

    def holds(self, books, collection="results", extra=()):
        """The collection holds exactly the documents of these books (and the extra ones), byte for byte."""
        expected = books.documents() if isinstance(books, Books) else dict(books)
        expected.update(extra)
        found = self.documents(collection, raw=True)
        wanted = [expected[number] for number in sorted(expected)]
        if found == wanted:
            return
        there = {mongo.decode(raw)["_id"]: raw for raw in found}
        missing, more = sorted(set(expected) - set(there)), sorted(set(there) - set(expected))
        other = [number for number in sorted(set(expected) & set(there)) if expected[number] != there[number]]
        self.fail("%d documents instead of %d: %d missing %r, %d extra %r, %d altered %r" % (
            len(found), len(wanted), len(missing), missing[:3], len(more), more[:3], len(other),
            [(mongo.decode(expected[number]), mongo.decode(there[number])) for number in other[:2]]))

    def catalog_entries(self, collection="results"):
        """The catalog's own documents of inputs, by ordinal."""
        return self.documents(collection + ".tipple.files", filter={"_id": {"$type": "number"}})

    def files(self, collection="results"):
        """What the catalog says of each input, by ordinal, as plain dicts: see input_of."""
        generation = self.header(collection)["generation"] if self.has_header(collection) else 0
        return [input_of(entry, generation) for entry in self.catalog_entries(collection)]

    def has_header(self, collection="results"):
        return bool(self.documents(collection + ".tipple.files", filter={"_id": "catalog"}))

    def shorten_lease(self, seconds=2, collection="results"):
        """Loads that begin from now on take another one for dead after so long. Where there is no catalog yet, a load
        of nothing makes one; its input is taken out again."""
        if not self.has_header(collection):
            self.write("nothing/nothing.csv", rows(0))
            self.load("nothing/nothing.csv", collection=collection)
            for name in ("files", "loads"):
                self.client.command(self.database, {"delete": "%s.tipple.%s" % (collection, name), "deletes": [
                    {"q": {"_id": {"$ne": "catalog"}}, "limit": 0}]})
        reply = self.client.command(self.database, {"update": collection + ".tipple.files", "updates": [
            {"q": {"_id": "catalog"}, "u": {"$set": {"leaseMs": mongo.Int64(int(seconds * 1000))}}}]})
        self.assertEqual(1, reply["n"])

    def placed(self, texts, collection="results"):
        """The documents of these texts (by path) at the ordinals and MiBs that the catalog has given them: where
        several loads took some, or one was killed in between, there may be holes."""
        expected = {}
        for book in self.files(collection):
            extents = [(extent["base"], extent["start"]) for extent in book["extents"]]
            self.assertFalse([extent for extent in extents if extent[0] % MIB or extent[1] % MIB])
            expected.update(File(book["_id"], extents, "", "", texts[book["path"]]).documents)
        return expected

    def header(self, collection="results"):
        return self.documents(collection + ".tipple.files", filter={"_id": "catalog"})[0]

    def loads(self, collection="results"):
        return list(self.client.find(self.database, collection + ".tipple.loads", sort={"started": 1}))

    def hash(self, collection="results"):
        """The server's MD5 over the raw documents in _id order."""
        return self.client.command(self.database, {"dbHash": 1, "collections": [collection]})["collections"][collection]

    def entries(self, path=None):
        """The whole entries of a reject file: (file, offset, line, field, record)."""
        text = (self.folder / (path or "%s.results.rejects" % self.database)).read_bytes()
        marks = set(re.findall(rb"^# marked (#@[0-9a-f]{8}) ?$", text, re.M))
        found, lengths = [], []
        for line in text.split(b"\n")[:-1]:
            words, people, _ = line.partition(b" -- ")
            if line[:10] in marks and line[10:15] == b" torn":
                if len(found[-1][4] or b"") < lengths[-1]:  # a kill cut it off
                    found.pop(), lengths.pop()
            elif line[:10] in marks and people:
                head = dict(re.findall(rb" (\w+)=(\S+)", words))
                found.append([head[b"file"].decode(), int(head[b"offset"]), int(head[b"line"]),
                              head[b"field"].decode(), None])
                lengths.append(int(head.get(b"kept", head[b"length"])))
            elif line[:10] not in marks and found and found[-1][4] is None:
                found[-1][4] = line
        return [tuple(entry) for entry in found]


class OwnServer(Case):
    """Tests with a server of their own: `options` are those of mongods.start, `state` is what it gives."""
    options = {}

    @classmethod
    def setUpClass(cls):
        cls.servers = tempfile.mkdtemp(prefix="servers-", dir=os.getcwd())
        cls.addClassCleanup(shutil.rmtree, cls.servers, True)
        cls.addClassCleanup(mongods.stop, cls.servers, gently=False)
        cls.up()

    @classmethod
    def up(cls):
        cls.use(pool.start(cls.servers, cls.options, tied=True))

    @classmethod
    def down(cls, gently=False):
        mongods.stop(cls.servers, gently=gently)

    def reconnect(self):
        self.client.close()
        self.client.__init__(live.URI)


def feed(path, data):
    """Writes data into a FIFO next to us."""
    def write():
        with open(path, "wb") as pipe:
            pipe.write(data)
    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def wait_for(condition, seconds=LONG):
    """Waits for a condition, not for a time; false when it never came."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


# ------------------------------------------------------------------------------------------------------- main

class Result(unittest.TestResult):
    passed = skipped_count = 0

    def say(self, word, test, more=""):
        print("%-7s %s%s" % (word, test.shortDescription() or test.id(), more), flush=True)

    def addSuccess(self, test):
        self.passed += 1
        self.say("ok", test, "  (%.1f s)" % (time.monotonic() - self.began))

    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def addSkip(self, test, reason):
        self.skipped_count += 1
        self.say("skipped", test, ": " + reason)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.say("FAILED", test, " [%s]\n%s" % (subtest.id(), (self.failures + self.errors)[-1][1]))

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.say("FAILED", test, " [%s]\n%s" % (test.id(), self.failures[-1][1]))

    def addUnexpectedSuccess(self, test):
        self.addFailure(test, (AssertionError, AssertionError("it passes: it is no expected failure any more"), None))

    def addError(self, test, error):
        super().addError(test, error)
        self.say("FAILED", test, " [%s]\n%s" % (test.id(), self.errors[-1][1]))


def main():
    """Runs the tests of the program (those whose names hold one of the arguments, if there are any)."""
    wanted, given = unittest.TestSuite(), sys.argv[1:]
    for suite in unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]):
        wanted.addTests(test for test in suite if not given or any(word in test.id() for word in given))
    if not all(test.server or isinstance(test, OwnServer) for test in wanted):
        live.need_server()
    result = Result()
    wanted.run(result)
    failed = len(result.failures) + len(result.errors)
    print("%d passed, %d failed%s" % (result.passed, failed,
                                      ", %d skipped" % result.skipped_count if result.skipped_count else ""))
    sys.exit(1 if failed else 0 if result.passed else 77 if result.skipped_count else 1)
