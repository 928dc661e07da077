"""faultlab: loads in whose middle something happens, and the proof afterwards.

    class Killed(faultlab.Lab):
        def test_once(self):
            '''what happens, in one line'''
            with self.relayed(faultlab.Moment(500, lambda: os.kill(self.pid(), 9))):
                ...
            self.verified({"a.csv": text}, ["a.csv"], "killed once")

A moment is a number of documents that a server has acknowledged, seen by a relay before it: nothing depends on how fast
this machine is. What is random is drawn from TIPPLE_FAULT_SEED (1 unless given), which is printed. TIPPLE_SHIM is the
shared object that tests/fault/shim.c becomes.
"""
import functools
import json
import os
import random
import struct
import threading
import unittest

import live
import livetest
import relay

SEED = int(os.environ.get("TIPPLE_FAULT_SEED") or 1)
SHIM = os.environ.get("TIPPLE_SHIM") or os.path.join(os.path.dirname(live.TIPPLE), "tests/libfault_shim.so")
needs_shim = unittest.skipUnless(os.path.exists(SHIM), "the shim is not built here")


# --------------------------------------------------------------------------------------------- what should be there

@functools.lru_cache(64)
def bodies(text):
    """(offset, line, record, elements of its document or None) of each record."""
    return [(offset, line, record, livetest.body_of(record)) for offset, line, record in livetest.records(text)]


@functools.lru_cache(64)
def documents_at(text, ordinal, extents):
    """The documents of a file that has got this place, by _id; also where in the file each comes from."""
    documents, offsets = {}, {}
    for offset, _, _, body in bodies(text):
        if body is not None:
            base, start = max((extent for extent in extents if extent[1] <= offset), key=lambda extent: extent[1])
            number = livetest.record_id_make(ordinal, offset, base - start)
            documents[number], offsets[number] = livetest.document(number, body), offset
    return documents, offsets


def rejected(texts):
    return sorted((path, offset, line, record) for path, text in texts.items()
                  for offset, line, record, body in bodies(text) if body is None)


def id_of(raw):
    """tipple puts _id first, as an int64."""
    assert raw[4:9] == b"\x12_id\0", raw[:20]
    return struct.unpack_from("<q", raw, 9)[0]


def say(did, records):
    print("        seed %d: %s; %s records checked" % (SEED, did, format(records, ",")), flush=True)


# ------------------------------------------------------------------------------------------------------- the moment

class Moment:
    """A rule for relays: when the data's inserts have been acknowledged for that many documents, `act` is called once,
    and what it gives is what becomes of that reply; then it is `over`. `rule`: for all other messages."""

    def __init__(self, documents, act, rule=lambda message: relay.PASS):
        self.documents, self.act, self.rule, self.seen, self.over = documents, act, rule, 0, False

    def __call__(self, message):
        if is_acknowledgement(message):
            self.seen += message.inserted
        return self.come() if self.is_now(message) and not self.over else self.rule(message)

    def is_now(self, message):
        return is_acknowledgement(message) and self.seen >= self.documents

    def come(self):
        verdict = self.act() or relay.PASS
        self.over = True
        return verdict


class HeldMoment(Moment):
    """From the moment on the data's replies wait until the gate is opened: the load is not over before."""

    def __init__(self, documents, act=lambda: relay.PASS):
        super().__init__(documents, act, self.hold)
        self.gate = threading.Event()

    def hold(self, message):
        return self.gate if self.seen >= self.documents and is_acknowledgement(message) else relay.PASS


class BooksMoment(HeldMoment):
    """After that many documents, the next message about the books: its reply, or the question."""

    def __init__(self, documents, act, reply):
        super().__init__(documents, act)
        self.reply = reply

    def is_now(self, message):
        return self.seen >= self.documents and message.books and message.reply == self.reply

    def come(self):
        self.gate.set()
        return super().come()


def is_acknowledgement(message):
    """Of data."""
    return message.reply and message.command == "insert" and not message.books


# ---------------------------------------------------------------------------------------------------------- the lab

class Mixin:
    """For a Case whose server may die: what Lab and ClusterLab have in common."""
    relays = None

    def setUp(self):
        super().setUp()
        self.client.follows = 60  # a machine that is busy elects when it likes
        self.draw = random.Random("%d %s" % (SEED, self.id()))

    def uri(self, collection="results"):
        uri = live.with_path(live.URI, "%s.%s" % (self.database, collection))
        return self.relays.rename(uri) if self.relays else uri

    def relayed(self, rule=lambda message: relay.PASS):
        """From now on tipple speaks through relays; tests themselves do not."""
        if self.relays:
            self.relays.close()
        else:
            self.addCleanup(self.unrelayed)
        self.relays = relay.Relays(self.ports(), rule)
        return self.relays

    def unrelayed(self):
        if self.relays:
            self.relays.close()
        self.relays = None

    def shimmed(self, **settings):
        """An environment in which the shim does what settings say."""
        return {**os.environ, "LD_PRELOAD": SHIM, **{"TIPPLE_SHIM_" + name: str(value)
                                                     for name, value in settings.items()}}

    def over(self, load, status, stdin=None):
        """Waits for a load that was started; its exit status is one of these. Its counts (or None) and words."""
        try:
            out, said = load.communicate(stdin, timeout=livetest.LONG)
        except BrokenPipeError:  # it gave up before it had read all
            out, said = load.communicate(timeout=livetest.LONG)
        words = "%s\n%s" % ((out or b"").decode(errors="replace")[-2000:], said.decode(errors="replace")[-3000:])
        self.assertIn(livetest.ending(load.returncode), status, words)
        if livetest.ending(load.returncode) not in (0, 2, 137):
            self.assertRegex(said.decode(errors="replace"), "tipple: (?!warning)", "it ended without a sentence")
        return livetest.Counts(json.loads(out)) if out and load.returncode != -9 else None, \
            said.decode(errors="replace")

    # -------------------------------------------------------------------------------------------------- the proof

    def there(self, collection="results"):
        found = self.documents(collection, raw=True)
        there = {id_of(raw): raw for raw in found}
        self.assertEqual(len(found), len(there), "an _id is there twice")
        return there

    def done_is_there(self, texts, collection="results"):
        """Of a load that is not over: each record of a block that the books call done is there, byte for byte. How
        many blocks that were."""
        books = self.files(collection)  # first: a load that goes on meanwhile adds to both
        there, blocks = self.there(collection), 0
        for book in books:
            documents, offsets = self.file_documents(book, texts)
            for begin, end in book["done"]:
                blocks += end - begin
                lost = [number for number, offset in offsets.items()
                        if begin <= offset // livetest.WINDOW < end and there.get(number) != documents[number]]
                self.assertEqual([], lost[:5], "%d records of blocks that are done are not there" % len(lost))
        return blocks

    def file_documents(self, book, texts):
        return documents_at(texts[book["path"]], book["_id"],
                            tuple((extent["base"], extent["start"]) for extent in book["extents"]))

    def verified(self, texts, words, did, collection="results", rejects=None, **stdin):
        """The end of every test: each record of the inputs is in the collection, once, byte for byte; the books are
        complete; each reject was kept once; and the same command finds nothing more to do. Prints what was done (did),
        unless the test is not over."""
        expected = self.all_is_there(texts, collection, rejects)
        again = self.load(*words, collection=collection, status=2 if rejected(texts) else 0, **stdin)
        self.assertEqual(0, again["read"], "the same command once more")
        self.assertEqual(len(expected), self.verified_by_tipple(words, collection, **stdin))
        if did:
            say(did, sum(len(bodies(text)) for text in texts.values()))

    def all_is_there(self, texts, collection="results", rejects=None):
        """All of verified() that needs no more runs. The documents that are there."""
        books = self.files(collection)
        self.assertEqual(sorted(texts), sorted(book["path"] for book in books), "each file is in the books once")
        self.assertTrue(all(book["complete"] for book in books), "a file is not complete")
        expected = {}
        for book in books:
            expected.update(self.file_documents(book, texts)[0])
        self.holds(expected, collection)
        self.all_rejected(texts, rejects)
        return expected

    def all_rejected(self, texts, files):
        """Each reject was kept, once; where several loads kept some, one that took over may have kept it again."""
        if not rejected(texts):
            return
        several = isinstance(files, list)
        kept = sorted((*entry[:3], entry[4]) for name in (files if several else [files])
                      for entry in self.entries(name))
        self.assertEqual(rejected(texts), sorted(set(kept)) if several else kept, "each reject is kept once")

    def verified_by_tipple(self, words, collection, **stdin):
        """The loader's own proof, with the load's arguments as far as they say which records are meant."""
        meant, before = [], ""
        for word in map(str, words):
            if before in ("--input-name", "--filter"):
                meant += [before, word]
            elif word == "-" or (os.path.exists(self.folder / word) and before != "--rejects"):
                meant.append(word)
            before = word
        said = json.loads(self.tipple("verify", "--format", "mot", "--uri", self.uri(collection), "--json", *meant,
                                      **stdin).stdout)
        for kind in ("missing", "extra", "duplicated", "changed", "unrelated"):
            self.assertEqual(0, said[kind], kind)
        return said["as_expected"]


class Lab(Mixin, livetest.Case):
    """With a server of the pool, for what happens before it and to its clients."""
    server = "standalone"

    def ports(self):
        return [member["port"] for member in self.state["members"]]


class OwnLab(Lab, livetest.OwnServer):
    """With a server of its own, for what happens to it: see livetest.OwnServer."""
    server = None
