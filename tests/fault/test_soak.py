"""Half an hour of everyday life: a folder whose files grow and become more, two loads of it at once that are killed at any moment, inputs
that are forgotten and loaded again, rejects that are fixed. After each round a model that knows each record is compared with all that is
there. TIPPLE_SOAK_SECONDS=120 takes two minutes; by day there are two rounds. One seed makes the same decisions in every run.
needs: none"""
import gzip
import io
import json
import os
import queue
import random
import re
import subprocess
import tarfile
import time

import faultlab
import livetest
import neverlost
import relay

SECONDS = float(os.environ.get("TIPPLE_SOAK_SECONDS") or (1800 if livetest.NIGHTLY else 0))  # half for each kind of server
LARGE = 20000  # records of one collection, after which another one is begun
FORMAT = "format: soak\nrecord: {delimiter: [','], quote: '\"', header: yes}\n" \
    "fields: [{name: k, type: int}, {name: s, type: text}, {name: v, type: text}]\n"
WORDS = "amber", 'a "quoted" word', "two, with a comma", "two\nlines", "Zürich", "x" * 70, "slate " * 30


class Record:
    """One record as it stands in a file, and its document: None for a reject, which may be fixed, left out, or stay as it is."""

    def __init__(self, draw, as_json, serial, key=None):
        self.key = serial if key is None else key
        self.document = {"k": self.key, "s": draw.choice(WORDS), "v": "v%d" % (serial * 7919 % 10**9 + 10**9)}
        self.raw, self.fix = text_of(self.document, as_json), None
        if key is None and draw.random() < 0.01:
            self.fix = draw.choice(("fixed", "fixed", "left out", "open"))
            self.fixed, self.document = (self.raw, self.document), None
            self.raw = b'{"k": %d, "s": oops}' % serial if as_json else b"%d,a field too few" % serial


def text_of(document, as_json):
    if as_json:
        return json.dumps(document).encode()
    quoted = '"%s"' % document["s"].replace('"', '""') if re.search('[\n",]', document["s"]) else document["s"]
    return ("%d,%s,%s" % (document["k"], quoted, document["v"])).encode()


class Input:
    """`torn`: bytes by which its last record is still too short. `loaded`: records of which the model has the documents."""

    def __init__(self, name, header):
        self.name, self.header, self.records, self.torn, self.loaded, self.written = name, header, [], 0, 0, 0

    def text(self):
        whole = self.header + b"".join(record.raw + b"\n" for record in self.records)
        return whole[:-1 - self.torn] if self.torn else whole

    def documents(self):
        """Those of the records that are not loaded yet, and of one that was cut off."""
        for number in range(self.loaded, len(self.records)):
            record = self.records[number]
            if record.document and self.torn and number == len(self.records) - 1:
                yield record.key, {**record.document, "v": record.document["v"][:-self.torn]}
            elif record.document:
                yield record.key, record.document
        self.loaded = len(self.records) - bool(self.torn)

    def rejects(self):
        """(name, offset, line, record) of each, with the Record."""
        offset, line = len(self.header), 1 + self.header.count(b"\n")
        for record in self.records:
            if not record.document:
                yield (self.name, offset, line, record.raw), record
            offset, line = offset + len(record.raw) + 1, line + record.raw.count(b"\n") + 1


class Lane:
    """A kind of collection, its folder of inputs, and what has to be in it."""

    def __init__(self, name, words=(), key="_id", as_json=False, own=False, replaces=False):
        self.name, self.words, self.key, self.as_json, self.own, self.replaces = name, words, key, as_json, own, replaces
        self.header, self.number, self.serial = b"" if as_json else b"k,s,v\n", 0, 0
        self.begin_anew()

    def begin_anew(self):
        self.number += 1
        self.collection = self.folder = "%s%d" % (self.name, self.number)
        self.inputs, self.documents, self.files, self.rejected, self.fixed = {}, {}, 0, set(), set()

    def rejects(self):
        return [each for one in self.inputs.values() for each in one.rejects()]

    def opened(self):
        return [place for place, _ in self.rejects() if place not in self.fixed]


class Kill(faultlab.Moment):
    """At a message, whatever it is; at the reply to data after a number of documents; or at the next message about the books."""

    def __init__(self, draw, act):
        self.kind = draw.choice(("message", "documents", "books", "nothing"))
        self.messages = int(10 ** draw.uniform(0.3, 2.3))
        super().__init__(int(10 ** draw.uniform(0, 3.3)), act)

    def is_now(self, message):
        self.messages -= message.command != "hello"
        return {"message": self.messages == 0, "documents": super().is_now(message), "nothing": False,
                "books": message.books and self.seen >= self.documents}[self.kind]


class Soak(neverlost.Case):
    """Four collections by turns, one round each."""

    def setUp(self):
        self.lanes = [Lane("rows"), Lane("json", key="k:hashed", as_json=True), Lane("own", ("--id", "k"), own=True),
                      Lane("replace", ("--id", "k", "--existing", "replace"), "k:hashed", own=True, replaces=True)]
        self.lane, self.killed = self.lanes[0], 0
        super().setUp()
        self.write("soak.yaml", FORMAT)

    def uri(self, collection=None):
        return super().uri(self.lane.collection)

    def named(self):
        return () if self.lane.as_json else ("--format", "./soak.yaml")

    def words(self, *words, **more):
        keyed = ("--shard-key", self.lane.key) if self.server == "cluster" else ()
        self.format = None
        return super().words(*self.named(), *keyed, *self.lane.words, "--rejects", self.lane.collection + ".rejects",
                             *words, **more)

    def at_once(self, draw, *commands, status):
        """Each is killed as it is drawn, through relays of its own."""
        begun = []
        for words in commands:
            pid, verdict = queue.SimpleQueue(), draw.choice((relay.PASS, relay.CUT, relay.HALF_CUT))

            def act(pid=pid, verdict=verdict):
                pid.get().kill()
                return verdict
            relays = relay.Relays(self.ports(), Kill(draw, act))
            process = self.background(*map(relays.rename, words),
                                      stdout=subprocess.PIPE if words[0] == "load" else subprocess.DEVNULL)
            pid.put(process)
            begun.append((process, relays))
        for process, relays in begun:
            said = self.over(process, status)[1]
            if process.returncode == 1:
                self.assertIn("load at a time", said)
            self.killed += process.returncode == -9
            relays.close()

    def two_loads(self):
        draw = self.draw
        loads = [self.words(self.lane.folder, "-j", draw.choice("124"), "-b", draw.choice(("7", "100", "1000"))) for _ in "12"]
        self.at_once(draw, *loads, status=(0, 1, 2, 137) if self.lane.replaces else (0, 2, 137))

    # ------------------------------------------------------------------------------------- what happens to inputs

    def add_records(self, one, count):
        """Grows an input, in memory and on disk."""
        lane, draw = self.lane, self.draw
        one.torn = 0
        for _ in range(count):
            lane.serial += 1
            again = lane.replaces and draw.random() < 0.5
            one.records.append(Record(draw, lane.as_json, lane.serial, -draw.randrange(400) if again else None))
        if lane.name == "rows" and one.records and one.records[-1].document and draw.random() < 0.3 and "!" not in one.name:
            one.torn = draw.randint(1, 8)
        path, new = self.folder / one.name.partition("!")[0], one.text()[one.written:]
        path.parent.mkdir(exist_ok=True)
        one.written += len(new)
        if "!" in one.name:
            with tarfile.open(path, "a") as archive:
                member = tarfile.TarInfo(one.name.partition("!")[2])
                member.size = len(new)
                archive.addfile(member, io.BytesIO(new))
        else:
            with open(path, "ab") as file:
                file.write(gzip.compress(new, 1) if one.name.endswith(".gz") else new)

    def new(self, name, count):
        one = Input("%s/%s" % (self.lane.folder, name), self.lane.header)
        self.lane.inputs[one.name] = one
        self.add_records(one, count)
        return one.name

    def next_name(self):
        self.lane.files += 1
        return "%04d.%s" % (self.lane.files, "json" if self.lane.as_json else "csv")

    def add(self):
        return self.new(self.next_name() + self.draw.choice(("", "", ".gz")), int(10 ** self.draw.uniform(0, 3.7)))

    def add_small(self):
        """More than one portion."""
        for _ in range(self.draw.randint(20, 70)):
            last = self.new(self.next_name(), self.draw.randint(0, 4))
        return last

    def add_member(self):
        """To a tar; where the order of inputs counts, to a new one."""
        tars = sorted({name.partition("!")[0] for name in self.lane.inputs if "!" in name})
        new = self.lane.replaces or not tars or self.draw.random() < 0.2
        tar = self.next_name() + ".tar" if new else os.path.basename(self.draw.choice(tars))
        return self.new("%s!m%d" % (tar, self.lane.serial), int(10 ** self.draw.uniform(0, 3)))

    def grow(self):
        """A plain or compressed file; the last one, where the order of inputs counts."""
        files = [one for one in self.lane.inputs.values() if "!" not in one.name]
        if self.lane.replaces and files[-1:] != list(self.lane.inputs.values())[-1:]:
            return self.add()
        one = files[-1] if self.lane.replaces else self.draw.choice(files)
        self.add_records(one, int(10 ** self.draw.uniform(0, 3.5)))
        return one.name

    def forget(self):
        """Of an input without own _ids with its documents. It stays, and is loaded again, or is removed. Before that all is loaded."""
        self.complete_all()
        lane, one = self.lane, self.draw.choice(list(self.lane.inputs.values()))
        words = ["forget", "-q", "--uri", self.uri(), one.name]
        del lane.inputs[one.name]
        if not lane.own:
            if any(record.document or record.fix == "fixed" for record in one.records):
                self.tipple(*words, status=1)
            words += ["--delete", "--yes"]
            for record in one.records:
                lane.documents.pop(record.key, None)
        self.at_once(self.draw, words, status=(0, 137))
        done = self.tipple(*words, status=None)
        was_done = lane.own and "not in the catalog" in done.stderr
        self.assertTrue(done.returncode == 0 or was_done, done.stderr)
        lane.fixed.difference_update(place for place, _ in one.rejects())
        if lane.inputs and not lane.own and "!" not in one.name and self.draw.random() < 0.4:
            (self.folder / one.name).unlink()
            return one.name + " for ever"
        one.loaded, lane.inputs[one.name] = 0, one
        return one.name

    def retry(self):
        """Before that all is loaded, and so rejected."""
        self.complete_all()
        return self.fix_rejects()

    def fix_rejects(self):
        """As each of them is meant to be, by each reject file that has some of them."""
        lane, current = self.lane, dict(self.lane.rejects())
        lines = {record.raw: record.fixed[0] if record.fix == "fixed" else None
                 for record in current.values() if record.fix != "open"}
        draw = random.Random(self.draw.random())  # how many files there are is chance
        kill = draw.random() < 0.5
        for kept in self.reject_files():
            if current.keys().isdisjoint(self.places(kept)):
                continue
            text = (self.folder / kept).read_bytes().split(b"\n")
            self.write("fixed", b"\n".join(lines.get(line, line) for line in text if lines.get(line, line) is not None))
            words = self.words("--retry", "fixed")
            if kill:
                self.at_once(draw, words, status=(0, 2, 137))
            self.over(self.background(*words), (0, 2))
        for place, record in current.items():
            if record.fix == "fixed":
                lane.documents[record.key] = record.fixed[1]
            if record.fix != "open":
                lane.fixed.add(place)
        return len(lines)

    # ------------------------------------------------------------------------------------------------ proof

    def reject_files(self):
        return sorted(path.name for path in self.folder.glob(self.lane.collection + ".rejects*"))

    def places(self, kept):
        return [(*entry[:3], entry[4]) for entry in self.entries(kept)]

    def complete_all(self):
        """Loads run to their ends, and what they and verify say is true."""
        lane = self.lane
        for one in lane.inputs.values():
            lane.documents.update(one.documents())
        lane.rejected.update(lane.opened())
        self.load(lane.folder, status=2 if lane.opened() else 0)
        if lane.own and any(record.fix == "fixed" for _, record in lane.rejects()):
            self.fix_rejects()  # documents of fixes stay when their input is forgotten
        self.holds_documents()
        kept = [self.places(name) for name in self.reject_files()]
        self.assertEqual(sum(map(len, kept)), sum(len(set(each)) for each in kept), "a reject is twice in one file")
        self.assertEqual(lane.rejected, set().union(*kept), "the reject files")
        said = json.loads(self.tipple("verify", *self.named(), "--json", "--uri", self.uri(), lane.folder).stdout)
        self.assertEqual(len(lane.documents), said["as_expected"])
        said = json.loads(self.tipple("status", "--uri", self.uri(), "--inputs", "--json").stdout)["inputs"]
        opened = [place[0] for place in lane.opened()]
        self.assertEqual({name: (True, opened.count(name)) for name in lane.inputs},
                         {each["name"]: (each["complete"], each["open_rejects"]) for each in said})
        self.assertEqual(0, self.load(lane.folder, status=2 if opened else 0)["read"], "the same command once more")

    def holds_documents(self):
        lane, found, twice = self.lane, {}, []
        for document in self.documents(lane.collection):
            key = document.pop("_id")
            self.assertEqual(lane.own, key == document["k"])
            twice += [document] if document["k"] in found else []
            found[document["k"]] = document
        lost = [key for key in lane.documents if key not in found]
        other = [each for key, each in found.items() if lane.documents.get(key) != each]
        if lost or other or twice:
            self.fail("%s: %d documents are missing %r, %d are others %r, %d are there twice %r" % (
                lane.collection, len(lost), lost[:3], len(other), other[:3], len(twice), twice[:3]))

    def one_round(self, number):
        lane, draw = self.lane, self.draw
        if not lane.inputs or sum(len(one.records) for one in lane.inputs.values()) > LARGE:
            lane.begin_anew()
            neverlost.shorten_lease(self.uri(), neverlost.LEASE)
            self.new(self.next_name(), 50)
            self.complete_all()
        elif draw.random() < 0.3 and not lane.opened():  # what is rejected again stands in new files
            for name in self.reject_files():
                (self.folder / name).unlink()
            lane.rejected.clear()
        did, self.killed = [], 0
        for _ in range(draw.randint(1, 3)):
            what = draw.choice((self.add, self.add, self.add_small, self.add_member, self.grow, self.grow, self.forget, self.retry))
            did.append("%s %s" % (what.__name__, what()))
            for _ in range(draw.choice((0, 1, 1, 2))):
                self.two_loads()
            if lane.replaces:
                self.complete_all()
        print("        round %d, %s: %s; %d were killed" % (number, lane.collection, ", ".join(did), self.killed), flush=True)
        self.complete_all()

    def test_rounds(self):
        """files that grow and become more, two loads that are killed, forget, --retry; each round ends complete"""
        began, number, killed = time.monotonic(), 0, 0
        while number < 2 or time.monotonic() - began < SECONDS / 2:
            self.lane = self.lanes[number % len(self.lanes)]
            number += 1
            self.one_round(number)
            killed += self.killed
        faultlab.say("%d rounds, %d commands were killed" % (number, killed), sum(len(lane.documents) for lane in self.lanes))


@livetest.nightly
class Sharded(Soak):
    server, needs = "cluster", ("cluster", None)


if __name__ == "__main__":
    neverlost.main()
