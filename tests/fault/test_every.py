"""The n-th allocation fails, and the n-th read, write or opening of a file: for parse and its like at every n, for what
talks to a server at some, spread over all of its run. TIPPLE_EVERY_N=1: at every n everywhere, which takes hours.

Whatever fails, a run ends with the status for it and one sentence, or does without and comes to the same result. It
does not crash, hang, or leave half a file where a whole one is promised; what it has
done to a collection is completed by the same command.  needs: standalone"""
import collections
import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import zipfile

import faultlab
import live
import livetest

FAULTY = os.environ.get("TIPPLE_FAULTY") or os.path.join(os.path.dirname(live.TIPPLE), "tests/tipple_faulty")
EVERY = os.environ.get("TIPPLE_EVERY_N") == "1"
# Of runs of one kind that are all made; and how many are made where it would be more.
MOST, SOME = (2000, 200) if livetest.NIGHTLY else (24, 8)
MEMORY = ("memory", "memory-on")
FILES = ("io-eio", "io-full", "io-stop", "io-short")
OUT_OF_MEMORY = r"out of memory|Cannot allocate memory|threads?\b"
# Of each kind: the statuses, and what the sentence says.
ENDS = {"memory": ((8,), OUT_OF_MEMORY), "memory-on": ((8,), OUT_OF_MEMORY),
        "io-eio": ((1, 5, 8), r"(?i)input/output error"), "io-full": ((1, 8), "No space left"),
        "io-stop": ((130,), "(?i)interrupted")}
WRONG = re.compile(r"Assertion")
SENTENCE = re.compile(r"(?m)^tipple: (?!warning)(.*)$")

MADE = """format: vans
record: {delimiter: [";"], header: yes}
fields:
  - {name: id, type: int}
  - {name: day, column: Day, type: date, pattern: DD/MM/YYYY}
  - {name: kg, column: Kg, key: load.kg, type: number, nulls: ["", n/a]}
  - {name: note, column: Note}
"""
GAUGES = """format: gauges
record: {fixed: 21}
document: [ts, gauge]
fields:
  - {name: gauge, width: 3}
  - {name: day, width: 8}
  - {name: clock, width: 4}
  - {name: level, width: 5, type: number, sign: always, divide: 100, nulls: "+9999"}
  - {name: state, width: 1, nulls: "-"}
make:
  - {ts: utc, from: [day, clock]}
"""
LEVELS = "G07202402030600+0231N\nG07202402030700+9999N\nG12202402030600+02x1-\nG1\n"
VANS = 'id;Day;Kg;Note\n1;03/02/2024;12.5;"a ""b"""\n2;30/02/2024;n/a;c\n3;x\n'


class Run(collections.namedtuple("Run", "status seen fired stdout stderr")):
    """status: as a shell says it, or "hangs"."""


class Faulty:
    """tipple_faulty at work in a folder."""

    def __init__(self, folder):
        self.process = subprocess.Popen([FAULTY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)

    def run(self, kind, number, words, stdin="/dev/null"):
        request = "\t".join([kind, str(number), stdin, *map(str, words)]) + "\n"
        self.process.stdin.write(request.encode())
        self.process.stdin.flush()
        status, *sizes = self.process.stdout.readline().decode().split()
        seen, fired, out, err = map(int, sizes)
        return Run(status if status == "hangs" else livetest.ending(int(status)), seen, fired,
                   self.process.stdout.read(out), self.process.stdout.read(err).decode(errors="replace"))

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Tries:
    """For a test case: runs with faults, and what is asked of each."""

    def begin(self):
        if not os.path.exists(FAULTY):
            self.skipTest("tipple_faulty is not built here")
        self.faulty = Faulty(self.folder)
        self.addCleanup(self.faulty.close)
        self.draw = random.Random("%d %s" % (faultlab.SEED, self.id()))
        self.tried, self.ended = 0, collections.Counter()

    def usual(self, kind, words, stdin="/dev/null"):
        """The same run without a fault."""
        run = self.faulty.run("io-none" if kind in FILES else "none", 0, words, stdin)
        self.assertIn(run.status, (0, 2, 7), "%s\n%s" % (words, run.stderr))
        return run

    def judge(self, kind, number, words, usual, run, same=None):
        """What is asked of every run. Whether it came to its usual end."""
        self.tried += bool(run.fired)
        self.ended[run.status] += bool(run.fired)
        with self.subTest(kind=kind, n=number, words=" ".join(map(str, words))):
            said = "status %s\n%s" % (run.status, run.stderr[-3000:])
            self.assertIsNone(WRONG.search(run.stderr), said)
            same = same or self.same_text
            if run.status == usual.status:
                self.assertTrue(same(usual.stdout, run.stdout), "it says something else than without the fault: %s" %
                                run.stdout[-1000:])
            else:
                self.assertGreater(run.fired, 0, said)
                self.assertIn(kind, ENDS, said)
                statuses, sentence = ENDS[kind]
                self.assertIn(run.status, statuses, said)
                sentences = SENTENCE.findall(run.stderr)
                # who cannot write to stderr cannot say so
                self.assertTrue(len(sentences) == 1 or (not run.stderr and kind in FILES), said)
                self.assertRegex(run.stderr, sentence)
                if run.status == 1:  # of what is looked at before anything is done
                    self.assertRegex(run.stderr, "--report: |the format file |the reject file ")
        return run.status == usual.status

    @staticmethod
    def same_text(one, other):
        """Except for what was timed."""
        return re.sub(rb"   .* CPU .*", b"", one) == re.sub(rb"   .* CPU .*", b"", other)

    def numbers(self, count, wanted):
        """Numbers up to count, spread over all; without a number all of them, unless they are very many."""
        if wanted is None and count > MOST:
            wanted = SOME
        elif wanted and not livetest.NIGHTLY:
            wanted = max(1, wanted // 3)
        if EVERY or wanted is None or wanted >= count:
            return range(1, count + 1)
        return sorted({int(1 + count * (i + self.draw.random()) / wanted) for i in range(wanted)})

    def say(self, what):
        faultlab.say("%s: %d faults, of which %d ended with another status (%s)" % (
            what, self.tried, sum(count for status, count in self.ended.items() if status not in (0, 2, 7)),
            ", ".join("%s: %d" % each for each in sorted(self.ended.items(), key=str))), self.tried)


class Alone(Tries, livetest.Case):
    """Commands that need no server."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="every-", dir=os.getcwd())
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.begin()

    def each(self, words, kinds, wanted=None, stdin="/dev/null", leaves=()):
        """leaves: files that the run writes."""
        for kind in kinds:
            usual = self.usual(kind, words, stdin)
            whole = {name: (self.folder / name).read_bytes() for name in leaves}
            before = set(os.listdir(self.folder)) - set(leaves)
            for number in self.numbers(usual.seen, wanted):
                for name in leaves:
                    (self.folder / name).unlink(missing_ok=True)
                run = self.faulty.run(kind, number, words, stdin)
                self.judge(kind, number, words, usual, run)
                if run.status == usual.status:
                    for name in leaves:
                        self.assertEqual(whole[name], (self.folder / name).read_bytes(), name)
                self.assertEqual(before, set(os.listdir(self.folder)) - set(leaves), "a file is left there")

    def inputs(self):
        text = livetest.rows(5, bad={3})
        self.write("a.csv", text)
        self.write("in/b.gz", gzip.compress(text))
        self.write("in/c.zip", livetest.zip_of(("m.csv", text, zipfile.ZIP_DEFLATED),
                                               ("n.csv", text, zipfile.ZIP_STORED)))
        self.write("in/d.tar", livetest.tar_of(("m.csv", text)))
        self.write("in/e.tgz", gzip.compress(livetest.tar_of(("m.csv", text))))
        self.write("in/f.zst", livetest.zstd_frame(text, stated=False))
        self.write("big.zip", (live.DATA / "input/deflate64.zip").read_bytes())
        year = gzip.decompress((live.DATA / "isd/722540-13904-2014.gz").read_bytes())
        self.write("isd", b"".join(year.splitlines(True)[:4]))
        self.write("vans.yaml", MADE)
        self.write("vans.csv", VANS)
        self.write("gauges.yaml", GAUGES)
        self.write("gauges", LEVELS)
        for kind in ("ycsb", "obd"):
            self.tipple("generate", kind, "--rows", "3", "-o", kind + ".csv")

    def test_parse(self):
        """parse of records with delimiters, of fixed width and made up, packed or not: every n"""
        self.inputs()
        for words, stdin in ((("-f", "mot", "a.csv"), "/dev/null"), (("-f", "mot", "--emit", "raw", "-"), "a.csv"),
                             (("-f", "mot", "--filter", "t>=1", "--ids", "--emit", "bson", "a.*"), "/dev/null"),
                             (("-f", "mot", "--emit", "none", "in"), "/dev/null"),
                             (("-f", "mot", "--emit", "none", "big.zip"), "/dev/null"),
                             (("-f", "./vans.yaml", "vans.csv"), "/dev/null"),
                             (("-f", "./gauges.yaml", "gauges"), "/dev/null"),
                             (("-f", "./gauges.yaml", "--emit", "raw", "gauges"), "/dev/null"),
                             (("-f", "isd", "isd"), "/dev/null"),
                             (("-f", "obd", "--relaxed", "obd.csv"), "/dev/null"),
                             (("-f", "ycsb", "ycsb.csv"), "/dev/null")):
            few = 12 if "big.zip" in words else None
            self.each(("parse", *words), ("memory", *FILES), few, stdin)
            self.each(("parse", *words), ("memory-on",), 50, stdin)
        self.say("parse")

    def test_others(self):
        """formats, guesses, generate and help: every n"""
        self.inputs()
        for words in (("formats",), ("formats", "--check", "./vans.yaml"), ("formats", "--check", "isd"),
                      ("formats", "--guess", "vans.csv"), ("formats", "--show", "mot"), ("help", "load"),
                      ("help", "--man", "load")):
            self.each(words, (*MEMORY, *FILES))
        for words in (("mot", "--rows", "3"), ("obd", "--rows", "3"), ("ycsb", "--rows", "3"),
                      ("isd", "--rows", "3", "--stations", "1"), ("mot", "--rows", "3", "--gzip")):
            self.each(("generate", *words, "-o", "out"), (*MEMORY, *FILES), wanted=SOME, leaves=("out",))
        self.say("formats, generate, help")


class Server(Tries, faultlab.Lab):
    """Commands that talk to a server."""
    TEXTS = {"a.csv": livetest.rows(60, bad={7}), "in/b.gz": livetest.rows(40, 2)}

    def setUp(self):
        super().setUp()
        self.begin()
        self.write("a.csv", self.TEXTS["a.csv"])
        self.write("in/b.gz", gzip.compress(self.TEXTS["in/b.gz"]))

    def load_words(self, collection, *more):
        return self.words("a.csv", "in", "-j", "2", "-b", "25", "--index", "k:1", "--report", "load.html", *more,
                          collection=collection)

    def is_whole(self, collection, texts):
        """Each record of the inputs is in the collection once, or in the reject file."""
        books, expected = self.files(collection), {}
        self.assertEqual([(path, True) for path in sorted(texts)],
                         sorted((book["path"], book["complete"]) for book in books))
        for book in books:
            expected.update(self.file_documents(book, texts)[0])
        self.holds(expected, collection)
        self.all_rejected(texts, self.folder / ("%s.%s.rejects" % (self.database, collection)))

    @staticmethod
    def same_counts(one, other):
        return all(json.loads(one).get(key) == json.loads(other).get(key)
                   for key in ("command", "status", "read", "loaded", "rejected", "open_rejects", "as_expected",
                               "missing", "extra", "changed", "unrelated"))

    def report_is_whole(self):
        report = self.folder / "load.html"
        if report.exists():
            self.assertTrue(report.read_text().endswith("</html>\n"))
            report.unlink()

    def each_load(self, wanted, texts, *more, begin=lambda words: None, same=None):
        """wanted: as many where one allocation fails, a third of them in each other way. begin: what comes before a load."""
        usual = {}
        for kind in (*MEMORY, *FILES):
            begin(self.load_words(kind, *more))
            usual[kind] = self.usual(kind, self.load_words(kind, *more))
        self.is_whole("memory", texts)
        self.report_is_whole()
        for kind in (*MEMORY, *FILES):
            for number in self.numbers(usual[kind].seen, wanted if kind == "memory" else wanted // 3):
                name = "c%d" % number
                words = self.load_words(name, *more)
                begin(words)
                run = self.faulty.run(kind, number, words)
                well = self.judge(kind, number, words, usual[kind], run, same or self.same_counts)
                self.report_is_whole()
                with self.subTest(kind=kind, n=number):
                    if not well:
                        again = self.faulty.run("none", 0, words)
                        self.assertEqual(2, again.status, again.stderr)
                    self.is_whole(name, texts)
                self.clear()

    def clear(self):
        self.client.drop_database(self.database)
        for path in self.folder.iterdir():
            if path.name not in ("a.csv", "in"):
                path.unlink()

    def test_load(self):
        """load: some n, spread over all of it; the same command completes what was begun"""
        self.each_load(60, self.TEXTS)
        self.say("load")

    def test_load_resumed(self):
        """load that goes on after one that was out of memory in its middle: the same"""
        seen = self.usual("memory", self.load_words("fresh")).seen
        self.clear()
        # how far the first one came differs, and so do the counts of the second
        self.each_load(24, self.TEXTS, begin=lambda words: self.faulty.run("memory", seen * 2 // 3, words),
                       same=lambda one, other: json.loads(one)["status"] == json.loads(other)["status"])
        self.say("load that goes on")

    FIX = b"|2000-01-31"

    def fixed(self, name):
        """The words of a --retry of the reject of a load into this collection, which is fixed."""
        self.assertEqual(2, self.faulty.run("none", 0, self.load_words(name)).status)
        kept = self.folder / ("%s.%s.rejects" % (self.database, name))
        lines = kept.read_bytes().split(b"\n")
        after = [False] + [line.startswith(b"#@") for line in lines]
        kept.unlink()
        self.write("fixed", b"\n".join(line + self.FIX if head else line for line, head in zip(lines, after)))
        return self.words("--retry", "fixed", "--report", "load.html", collection=name)

    def with_fix(self, name):
        """The documents that are there when the reject is fixed and loaded."""
        expected = {}
        for book in self.files(name):
            expected.update(self.file_documents(book, self.TEXTS)[0])
            for offset, _, record, body in faultlab.bodies(self.TEXTS[book["path"]]):
                if body is None:
                    number = livetest.record_id_make(book["_id"], offset, book["extents"][0]["base"])
                    expected[number] = livetest.document(number, livetest.body_of(record + self.FIX))
        return expected

    def test_retry(self):
        """load --retry: the same; the document of the fixed record is there once"""
        for kind in (*MEMORY, *FILES):
            usual = self.usual(kind, self.fixed("usual"))
            self.clear()
            for number in self.numbers(usual.seen, 24 if kind == "memory" else 6):
                words = self.fixed("c")
                run = self.faulty.run(kind, number, words)
                well = self.judge(kind, number, words, usual, run, self.same_counts)
                self.report_is_whole()
                with self.subTest(kind=kind, n=number):
                    if not well:
                        again = self.faulty.run("none", 0, words)
                        self.assertEqual(0, again.status, again.stderr)
                    self.holds(self.with_fix("c"), "c")
                self.clear()
        self.say("load --retry")

    @livetest.nightly
    def test_load_copies(self):
        """load --copies: the same"""
        self.each_load(24, {**self.TEXTS, **{path + "!copy-2": text for path, text in self.TEXTS.items()}}, "--copies", "2")
        self.say("load --copies")

    def each(self, words, wanted, same):
        before = self.everything()
        for kind in ("memory", "memory-on", *FILES):
            usual = self.usual(kind, words)
            for number in self.numbers(usual.seen, wanted if kind == "memory" else wanted // 5):
                run = self.faulty.run(kind, number, words)
                self.judge(kind, number, words, usual, run, same)
                self.report_is_whole()
        self.assertEqual(before, self.everything(), "something was touched")

    def test_verify(self):
        """verify: the same"""
        self.load("a.csv", "in", status=2)
        self.each(["verify", "-f", "mot", "--uri", self.uri(), "--json", "a.csv", "in"], 50, self.same_counts)
        self.say("verify")

    def test_query(self):
        """query: the same"""
        self.load("a.csv", "in", status=2)
        self.each(["query", "--suite", "mot", "--uri", self.uri(), "--json", "--repeats", "1", "--warmup", "0",
                   "--report", "load.html"], 50, self.same_counts)
        self.say("query")

    def test_stdout(self):
        """stdout full: status 8; its reader gone: no word, and an end by SIGPIPE; nothing is touched"""
        self.load("a.csv", "in", status=2)
        before = self.everything()
        at = ("--uri", self.uri())
        self.write("wide.csv", "\n".join(",".join("%s%d" % (what, at) for at in range(400)) for what in ("c", "", "1")))
        for words in (("parse", "-f", "mot", "a.csv"), ("formats",), ("formats", "--check", "mot"), ("help",),
                      ("--version",), ("help", "--man", "load"), ("generate", "mot", "--rows", "10"), ("status", *at),
                      ("where", self.documents()[0]["_id"], *at),
                      ("verify", "-f", "mot", *at, "a.csv", "in"), ("verify", "-f", "mot", *at, "--json", "a.csv", "in"),
                      ("query", "--suite", "mot", *at, "--repeats", "1", "--warmup", "0"),
                      ("query", "--show", "mot"), ("formats", "--guess", "wide.csv"),
                      ("drill", "-f", "mot", *at, "--no-predict", "a.csv")):
            for full in (True, False):
                with self.subTest(words=words, full=full):
                    read, write = os.pipe() if not full else (None, os.open("/dev/full", os.O_WRONLY))
                    if read:
                        os.close(read)
                    done = subprocess.run(self.command(*words), cwd=self.folder, stdin=subprocess.DEVNULL,
                                          stdout=write, stderr=subprocess.PIPE, timeout=live.LONG)
                    os.close(write)
                    said = done.stderr.decode(errors="replace")
                    self.assertEqual(8 if full else 141, livetest.ending(done.returncode), said)
                    self.assertEqual(int(full), len(SENTENCE.findall(said)), said)
                    if full:
                        self.assertIn("No space left", said)
        self.assertEqual(before, self.everything(), "something was touched, or is left")

    def test_drill(self):
        """drill and status: the same, and reports of drill"""
        self.load("a.csv", "in", status=2)
        self.each(["status", "--uri", self.uri(), "--json"], 25, self.same_counts)
        before = self.everything()
        words = ["drill", "-f", "mot", "--uri", self.uri(), "--json", "--no-predict", "--report", "load.html", "a.csv"]
        for kind in ("memory", "io-eio", "io-full"):
            usual = self.usual(kind, words)
            for number in self.numbers(usual.seen, 8):
                self.judge(kind, number, words, usual, self.faulty.run(kind, number, words), self.same_counts)
                self.report_is_whole()
        self.usual("memory", words)  # which finds what the others have left, and takes it away
        self.assertEqual(before, self.everything(), "something was touched, or is left")
        self.say("status, drill")


if __name__ == "__main__":
    livetest.main()
