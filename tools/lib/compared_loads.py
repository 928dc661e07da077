"""compared_loads: what a build puts into a real server: by a load, and by one that is killed in the middle and repeated
until it ends; and what load, verify, status and where report of it."""
import collections
import contextlib
import os
import queue
import re
import signal
import subprocess

import compared
import minimongo as mongo
import mongods
import relay
from compared import INPUTS, ROOT, Question, make

MOST_RUNS = 5  # until a killed load has ended

# format: words for --retry, too. inputs: words for verify, too. more: of the load alone.
Load = collections.namedtuple("Load", "name format inputs more stdin")


def loads(new):
    plain, folder = compared.plain(new), str((INPUTS / "load").relative_to(ROOT)) + "/"
    mot = plain["a.csv"]
    rows = mot.split(b"\n")
    rows[9], rows[200] = rows[9].replace(b"|", b"", 1), rows[200] + b"|too|many"
    made = {"blocks.csv": compared.generate(new, "mot-blocks"), "obd.csv": compared.generate(new, "obd"),
            "bad.csv": b"\n".join(rows), "in/a.csv": mot[:20000], "in/b.csv": mot[:9000],
            "a.zip": compared.zipped({"one.csv": mot, "two.csv": mot[:5000]})}
    for name, text in {**plain, **made}.items():
        make("load/" + name, text)
    for name, form, inputs, more in (
            ("mot", "mot", "{}blocks.csv", ""), ("guess", "", "{}a.csv", "--index make:1"), ("zip", "", "{}a.zip", ""),
            ("rejects", "mot", "{}bad.csv", ""), ("folder", "mot", "{}in", ""), ("id", "mot", "{}a.csv", "--id t"),
            ("filter", "mot", "--filter y==NT {}a.csv", ""), ("json", "ycsb", "{}x.json", ""),
            ("bson", "", "{}c.bson", "--id _id --existing keep"), ("obd", "obd", "{}obd.csv", "--index vehicleId:1"),
            ("isd", "isd", "tests/data/isd/024130-99999-2016.gz", ""), ("copies", "mot", "--copies 2 {}in/b.csv", ""),
            ("types", "", "{}bad.csv", "-t test_mileage:text --on-bad-value null"),
            ("pipe", "mot", "--input-name day1 -", "")):
        yield Load("load/" + name, ["-f", form] if form else [], inputs.replace("{}", folder).split(), more.split(),
                   folder + "a.csv" if name == "pipe" else None)


class Side:
    """One build, with a server of its own."""

    def __init__(self, build, side, uri):
        self.build, self.client, self.uri = build, mongo.Client(uri), uri.replace("/?", "/db.c?")
        self.rejects = "build/compare/%s/rejects" % side

    def ask(self, load, words, stdin=None):
        question = Question(load.name, [*words, "-q", "--json", "--uri", self.uri], "json", stdin)
        return question, self.build.observe(question)

    def begin(self):
        self.client.drop_database("db")
        path = ROOT / self.rejects
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)

    def documents(self, load):
        """What the server holds, and the reject file: the place of each record in it, and the record."""
        found = b"".join(self.client.find("db", "c", raw=True, sort={"_id": 1}))
        path = ROOT / self.rejects
        entries = re.findall(rb"(?m)^#@\w+ (.*)\n(.*)\n", path.read_bytes() if path.exists() else b"")
        rejects = sorted((*re.findall(rb"\b(file|offset|line|length|field)=(\S+)", head), record)
                         for head, record in entries)
        return Question(load.name, [], "documents"), {"status": 0, "documents": found, "rejects": rejects}

    def run(self, load):
        """(question, what is seen) of everything about one load."""
        words = ["load", "-j", "2", "-b", "50", "--rejects", self.rejects, *load.format, *load.inputs, *load.more]
        verify = ["verify", *load.format, *load.inputs]
        self.begin()
        yield self.ask(load, [*words, "--dry-run"], load.stdin)
        yield self.ask(load, words, load.stdin)
        yield self.documents(load)
        ids = [document["_id"] for document in self.client.find("db", "c", projection={"_id": 1}, sort={"_id": 1})]
        yield self.ask(load, words, load.stdin)
        yield self.ask(load, verify, load.stdin)
        yield self.ask(load, ["status", "--inputs"])
        yield self.ask(load, ["where", str(ids[len(ids) // 2] if ids else 0)])
        yield self.ask(load, ["load", *load.format, "--retry", self.rejects, "--rejects", self.rejects + ".again"])
        yield self.ask(load, ["forget", load.inputs[-1]])
        self.begin()
        status = self.kill(words, len(ids) // 3, load.stdin)
        killed = status == -signal.SIGKILL
        yield Question(load.name, [], "killed"), {"status": 0, "killed": killed, "crash": None if killed else (
            "status %d before the kill" % status)}
        for _ in range(MOST_RUNS):
            question, seen = self.ask(load, words, load.stdin)
            if seen["status"] in (0, 2):
                break
        seen.pop("json", None)  # its counts depend on when the load was killed
        yield question, seen
        yield self.documents(load)
        yield self.ask(load, verify, load.stdin)

    def kill(self, words, count, stdin):
        """Kills a load when the server has acknowledged this number of documents, before the load knows of the last."""
        acknowledged, met, pids = [0], [], queue.SimpleQueue()

        def rule(message):
            is_data = message.reply and message.command == "insert" and not message.books
            acknowledged[0] += message.inserted if is_data else 0
            if met or not is_data or acknowledged[0] < count:
                return relay.PASS
            met.append(pids.get())
            os.kill(met[0], signal.SIGKILL)
            return relay.CUT
        port = int(re.search(r":(\d+)/", self.uri).group(1))
        with relay.Relays([port], rule) as relays, open(ROOT / stdin if stdin else os.devnull) as given:
            process = subprocess.Popen(self.build.command([*words, "-q", "--uri", relays.rename(self.uri)]), cwd=ROOT,
                                       stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            pids.put(process.pid)
            return process.wait()


@contextlib.contextmanager
def sides(builds):
    with mongods.temporary() as one, mongods.temporary() as other:
        yield [Side(build, side, state["uri"]) for build, side, state in zip(builds, ("old", "new"), (one, other))]
