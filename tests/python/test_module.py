"""The Python module: what it loads, says and raises, on a real server. What pip makes of it is test_install.py.
needs: standalone; labels: quick"""
import contextlib
import glob
import io
import json
import logging
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import unittest.mock

import lab
import live
import minimongo

ROWS = 30000


def setUpModule():
    lab.install()
    global tipple
    import tipple
    logging.getLogger("tipple").addHandler(logging.NullHandler())


def text(rows, bad=0):
    return b"id,item\n" + b"".join(b"%d,item %d\n" % (row, row) for row in range(rows)) + b"1,2,3\n" * bad


class Case(live.Case):
    def setUp(self):
        super().setUp()
        before = os.getcwd()
        os.chdir(self.folder)  # reject files are made there
        self.addCleanup(os.chdir, before)
        self.write("a.csv", text(ROWS))

    def fails(self, kind, words, call, *arguments, **options):
        with self.assertRaisesRegex(kind, words) as raised:
            call(*arguments, **options)
        self.assertIs(kind, type(raised.exception))
        self.assertEqual(kind.status, raised.exception.status)
        self.assertEqual(str(raised.exception), raised.exception.sentence)
        return raised.exception


class Files(Case):
    def test_load(self):
        """a path, a Path and a list; a second time; compared; the same figures as the command's"""
        self.write("b.csv", text(10, bad=1).replace(b"\n", b"\n7", 1))
        result = tipple.load("a.csv", self.uri())
        self.assertEqual((ROWS, ROWS, 0, 0, 0, None, True), (result.read, result.loaded, result.already_there, result.rejected,
                                                             result.filtered, result.rejects, result.ok))
        self.assertRegex(repr(result), r"^Result\(read=30000, loaded=30000, already_there=0, rejected=0, filtered=0, seconds=[\d.]+, "
                                       r"rejects=None\)$")
        again = tipple.load([pathlib.Path("a.csv"), "b.csv"], self.uri())
        self.assertEqual((11, 10, 1, 2, False), (again.read, again.loaded, again.rejected, again.status, again.ok))
        self.assertEqual(self.database + ".results.rejects", again.rejects)
        command = json.loads(self.tipple("load", "--json", "--uri", self.uri("other"), "a.csv").stdout)
        self.assertEqual(list(command), list(vars(result)))
        measured = re.compile("second|memory|namespace|shards|limited_by|batches")
        self.assertEqual({key: command[key] for key in command if not measured.search(key)},
                         {key: value for key, value in vars(result).items() if not measured.search(key)})
        self.assertTrue(tipple.verify("a.csv", self.uri()).ok)
        self.client.command(self.database, {"delete": "results", "deletes": [{"q": {"id": 5000}, "limit": 1}]})
        found = tipple.verify(["a.csv"], self.uri())
        self.assertEqual((False, 7, 1), (found.ok, found.status, found.missing))

    def test_options(self):
        self.write("form.yaml", "format: mine\nrecord: {delimiter: [\",\"], header: yes}\nfields:\n  - {name: id, type: text}\n"
                                "  - {name: item, key: thing}\n")
        result = tipple.load("a.csv", self.uri(), format=pathlib.Path("form.yaml").absolute(), index=["thing:1", "id:1"], limit=5000, threads=2,
                             drop=True, max_rejects="1%", shard_key=None, direct=False)
        self.assertEqual((5000, "mine", 2), (result.loaded, result.format, result.threads))
        self.assertEqual({"_id_", "thing_1", "id_1"}, self.indexes() | {"_id_"})
        self.assertEqual(ROWS, tipple.load("a.csv", self.uri(), drop=True, with_=["header=yes", "delimiter=,"], type=["id:text"]).loaded)
        self.assertEqual(["0", "item 0"], [self.documents(limit=1)[0][key] for key in ("id", "item")])
        self.assertTrue(tipple.load("a.csv", self.uri("other"), dry_run=True).dry_run)
        self.assertEqual(0, self.client.count(self.database, "other"))

    def indexes(self):
        return {index["name"] for index in self.client.command(self.database, {"listIndexes": "results"})["cursor"]["firstBatch"]}

    def test_failures(self):
        uri, load = self.uri(), tipple.load
        self.fails(tipple.UsageError, r"'treads'.*'threads'.*tipple\.run\(\"load\"", load, "a.csv", uri, treads=4)
        self.fails(tipple.UsageError, "'retry'.*tipple.run", load, "a.csv", uri, retry="x")
        self.fails(tipple.UsageError, "threads: 9999", load, "a.csv", uri, threads=9999)
        self.fails(tipple.UsageError, "dict", load, "a.csv", uri, threads={})
        self.fails(tipple.UsageError, "nothing to load", load, [], uri)
        for source in (3, b"a.csv", None, [b"a.csv"], io.BytesIO(b"x")):
            self.fails(tipple.UsageError, "an input is of the type", load, source, uri)
        for wrong in ("a\0b", "a\ud800"):
            self.fails(tipple.UsageError, "an input|input holds", load, wrong, uri)
            self.fails(tipple.UsageError, "the URI holds", load, "a.csv", uri + wrong)
        self.fails(tipple.UsageError, "the URI is of the type", load, "a.csv", None)
        self.fails(tipple.UsageError, "format", load, "a.csv", uri, format="no-such")
        self.assertEqual(0, self.fails(tipple.InputError, "nope.csv", load, "nope.csv", uri).result.loaded)
        self.fails(tipple.ServerError, "127.0.0.1:1", load, "a.csv", "mongodb://127.0.0.1:1/a.b", patience="100ms")
        self.write("bad.csv", text(100, bad=5))
        self.fails(tipple.TooManyRejected, "max-rejects", load, "bad.csv", uri, max_rejects=2, format=str(self.write(
            "form.yaml", "format: mine\nrecord: {delimiter: [\",\"], header: yes}\nfields: [{name: id}, {name: item}]\n")))
        with unittest.mock.patch("threading.Thread.start", side_effect=RuntimeError("none left")):
            self.fails(tipple.HostError, "none left", load, "a.csv", uri, drop=True)
        self.assertEqual(ROWS, load("a.csv", uri, drop=True).loaded)

    def test_progress(self):
        """in the caller's thread; what the function raises ends the load, and the same call goes on"""
        seen = []

        def progress(documents, size):
            seen.append((documents, size, threading.get_ident()))
            if documents:
                raise ZeroDivisionError
        with self.assertRaises(ZeroDivisionError):
            tipple.load("a.csv", self.uri(), progress=progress, max_rate="5k")
        self.assertEqual({threading.get_ident()}, {thread for _, _, thread in seen})
        result = tipple.load("a.csv", self.uri(), progress=False)
        self.assertEqual(ROWS, result.read + result.records_skipped)
        self.assertEqual(ROWS, self.client.count(self.database, "results"))
        process = lab.begin("import sys, tipple; tipple.load('a.csv', sys.argv[1], progress=True, drop=True)", self.uri())
        out, said = process.communicate(timeout=live.LONG)
        self.assertEqual(("", 0), (out, process.returncode), said)
        self.assertRegex(said, r"^(\n[\d,]+ documents, [\d,]+\.\d MB read )+\n$")  # \r, as text

    def test_log(self):
        self.write("bad.csv", text(10, bad=1))
        with self.assertLogs("tipple", logging.DEBUG) as heard:
            tipple.load("bad.csv", self.uri())
        said = [(record.levelname, record.getMessage(), record.thread) for record in heard.records]
        self.assertTrue(any(level == "WARNING" and "bad.csv:12" in line for level, line, _ in said), said)
        self.assertTrue(any(level == "INFO" and "columns: id int, item text" in line for level, line, _ in said), said)
        self.assertEqual({threading.get_ident()}, {thread for _, _, thread in said})

    def test_two_threads(self):
        results = {}
        threads = [threading.Thread(target=lambda name=name: results.update({name: tipple.load("a.csv", self.uri(name))}))
                   for name in ("one", "other")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([ROWS, ROWS], [results[name].loaded for name in ("one", "other")])


class Pushes(Case):
    def test_push(self):
        """pieces of any kind and size; made again, nothing is loaded twice"""
        rows, at = text(ROWS), 0
        for _ in range(2):
            with tipple.Load(self.uri(), name="rows") as load:
                for number, size in enumerate([1, 7, 300000, 10] * 100):
                    piece = rows[at:at + size]
                    load.push((piece, bytearray(piece), memoryview(piece))[number % 3])
                    at += size
                load.push(rows[at:])
                self.assertIsNone(load.result)
            self.assertIs(load.result, load.finish())
            self.assertEqual(ROWS, load.result.loaded + load.result.records_skipped)
            at = 0
        self.assertEqual(0, load.result.loaded)
        self.assertEqual(list(range(ROWS)), sorted(document["id"] for document in self.documents()))

    def test_misuse(self):
        load = tipple.Load(self.uri(), name="rows")
        self.assertRaises(TypeError, load.push, "text")
        load.push(text(10))
        self.assertEqual(10, load.finish().loaded)
        self.fails(tipple.UsageError, "has ended", load.push, b"x")
        self.fails(tipple.UsageError, "input-name", tipple.Load(self.uri()).finish)
        self.fails(tipple.UsageError, "there is no option", tipple.Load, self.uri(), name="rows", thread=1)
        with tipple.Load(self.uri(), name="twice") as load:
            load.push(text(ROWS))
            other = tipple.Load(self.uri(), name="twice")
            self.fails(tipple.UsageError, "'twice' already", other.finish)

    def test_failure(self):
        """said by each call from then on; what was settled stands in it"""
        with tipple.Load(self.uri(), name="rows") as load:
            load.push(text(ROWS))
        load = tipple.Load(self.uri(), name="rows")
        load.push(text(ROWS).replace(b"item", b"thing"))
        failed = self.fails(tipple.InputError, "rows", load.finish)
        self.assertEqual((5, 0), (failed.result.status, failed.result.loaded))
        self.assertIs(failed, self.fails(tipple.InputError, "rows", load.finish))
        with self.assertRaises(ZeroDivisionError), tipple.Load(self.uri(), name="more") as load:
            load.push(text(ROWS))
            raise ZeroDivisionError
        with tipple.Load(self.uri(), name="more") as load:
            load.push(text(ROWS))
        self.assertEqual(ROWS, load.result.read + load.result.records_skipped)
        self.assertEqual(2 * ROWS, self.client.count(self.database, "results"))

    def test_cancel(self):
        """by another thread, while this one waits"""
        load = tipple.Load("mongodb://127.0.0.1:1/a.b", name="rows", patience="10m")
        load.push(text(10))
        threading.Timer(0.3, load.cancel).start()
        self.fails(tipple.Cancelled, "cancelled|interrupted", load.finish)
        load.cancel()

    def test_dropped(self):
        """a load that nobody holds any more ends, and is completed by the next one"""
        load = tipple.Load(self.uri(), name="rows")
        load.push(text(ROWS) + b"1,cut of")
        load.push(b"")
        load = None
        with tipple.Load(self.uri(), name="rows") as load:
            load.push(text(ROWS) + b"1,cut off\n")
        self.assertEqual(ROWS + 1, load.result.read + load.result.records_skipped)
        self.assertEqual(1, self.client.count(self.database, "results", {"item": "cut off"}))

    def test_fork(self):
        """a child of a process that has begun a load begins none; what it inherits does no harm"""
        lab.python("""
import os, sys, tipple
held = tipple.Load(sys.argv[1], name="rows")
held.push(b"id,item\\n" + b"1,a\\n" * 100000)
held._push_buffer()
child = os.fork()
if not child:
    try:
        tipple.load("a.csv", sys.argv[1])
    except tipple.UsageError as error:
        os._exit("spawn" in str(error))
    os._exit(2)
assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 1
child = os.fork()
if not child:
    sys.exit(0)
assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 0
assert held.finish().loaded == 100000
""", self.uri())


class Commands(Case):
    def test_run(self):
        tipple.load("a.csv", self.uri())
        for words, uri in (("status",), self.uri()), (("status", "--uri", self.uri()), None), (("status", "--uri=" + self.uri()), None):
            done = tipple.run(*words, uri=uri)
            self.assertIn("30,000", done.stdout)
            self.assertEqual(["status"], done.args[1:])
        self.assertIn("tipple " + tipple.__version__, tipple.run("--version").stdout)
        self.assertEqual(2, tipple.run("load", "-", "--input-name", "x", uri=self.uri(), input=b"id,item\n1,2\n1,2,3\n").returncode)
        self.assertEqual("1\n", lab.python("import sys, tipple; print(tipple.run('parse', '-').stdout.count('ink'))", stdin="id,item\n1,ink\n"))
        with self.assertLogs("tipple", logging.INFO) as heard:
            self.fails(tipple.InputError, "^nope.csv: ", tipple.run, "parse", "nope.csv", pathlib.Path("a.csv"))
            tipple.run("formats", "--guess", "a.csv")
            logging.getLogger("tipple").info("the last one")
        self.assertTrue(heard.output)
        self.fails(tipple.UsageError, "'statu'", tipple.run, "statu", uri=self.uri())

    def test_parse(self):
        documents = [minimongo.decode(raw) for raw in tipple.parse(["a.csv"], raw=True)]
        self.assertEqual([{"id": row, "item": "item %d" % row} for row in range(ROWS)], documents)
        self.assertEqual(3, len(list(tipple.parse("a.csv", raw=True, limit=3, type=["id:text"], ids=True))))
        first = tipple.parse("a.csv", raw=True)
        next(first)
        first.close()
        self.assertRaises(tipple.InputError, list, tipple.parse("nope.csv", raw=True))
        self.write("bad.csv", text(10, bad=1))
        with self.assertLogs("tipple", logging.WARNING) as heard:
            self.assertEqual(10, len(list(tipple.parse("bad.csv", raw=True))))
        self.assertIn("bad.csv:12", heard.output[0])
        with unittest.mock.patch.dict(sys.modules, {"bson": None}):
            self.fails(tipple.HostError, "pip install pymongo", tipple.parse, "a.csv")
        with unittest.mock.patch.dict(sys.modules, {"bson": minimongo}):  # which has its decode, too
            self.assertEqual({"id": 0, "item": "item 0"}, next(tipple.parse("a.csv")))

    def test_dicts(self):
        """by pymongo's own"""
        if not lab.VENV.exists():
            self.skipTest("build/venv is not there; tools/test makes it")
        self.assertEqual("{'id': 1, 'item': 'item 1'}\n", lab.python("import tipple; print(list(tipple.parse('a.csv', limit=3))[1])",
                                                                    python=[lab.VENV]))


class Installed(Case):
    def test_places(self):
        """the command next to the module, wherever that is, and never one of the PATH"""
        place = "%s.%s" % sys.version_info[:2]
        for number, (module, binary) in enumerate((
                ("lib/python%s/site-packages" % place, "bin"), ("lib64/python3/dist-packages", "bin"), ("local/lib/python3/dist-packages", "local/bin"),
                ("lib/python", "bin"), ("target", "target/bin"))):
            with self.subTest(module=module):
                top = self.folder / str(number)
                shutil.copytree(lab.MODULE / "tipple", top / module / "tipple", ignore=shutil.ignore_patterns("*.so"))
                where = {"PYTHONPATH": str(top / module), "PATH": "%s:%s" % (lab.MODULE / "bin", os.environ["PATH"])}
                self.assertEqual("HostError HostError\n", lab.python("""
import tipple
for asked in tipple.binary, lambda: tipple.__version__:
    try:
        asked()
    except tipple.Error as error:
        print(type(error).__name__, end=" " if asked is tipple.binary else "\\n")
""", **where))
                (top / binary).mkdir(parents=True, exist_ok=True)
                shutil.copy2(lab.MODULE / "bin/tipple", top / binary)
                self.assertEqual("%s\n" % (top / binary / "tipple"), lab.python("import tipple; print(tipple.binary())", **where))
        done = subprocess.run([sys.executable, "-m", "tipple", "--version"], env={**os.environ, **where}, capture_output=True, text=True)
        self.assertEqual("tipple " + tipple.__version__, done.stdout.splitlines()[0])
        (top / binary / "tipple").unlink()
        done = subprocess.run([sys.executable, "-m", "tipple"], env={**os.environ, **where}, capture_output=True, text=True)
        self.assertEqual((1, 1), (done.returncode, len(done.stderr.splitlines())))

    def test_version(self):
        self.assertEqual(re.search(r"project\(tipple VERSION ([\d.]+)", (live.ROOT / "CMakeLists.txt").read_text())[1], tipple.__version__)
        self.assertTrue((lab.MODULE / "tipple/py.typed").exists())

    def test_import(self):
        """what costs time is imported by what needs it; nothing is loaded or started"""
        said = lab.python("""
import sys, __future__, ctypes, queue, threading
before = set(sys.modules)
import tipple
print(*sorted(set(sys.modules) - before))
with open("/proc/self/maps") as maps:
    print("libtipple" in maps.read())
""").splitlines()
        self.assertEqual(["tipple", "tipple._command", "tipple._errors", "tipple._library", "tipple._load", "tipple._rows"], said[0].split())
        self.assertEqual("False", said[1])

    def test_refusals(self):
        """pip ends with one sentence where tipple does not run"""
        for change, word in (("sys.platform = 'darwin'", "darwin"), ("sys.implementation.name = 'pypy'", "pypy"),
                             ("os.confstr = lambda name: int('')", "musl")):
            done = subprocess.run([sys.executable, "-c", "import os, sys\n%s\nimport backend" % change], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": str(live.ROOT / "python")})
            self.assertEqual(1, done.returncode)
            self.assertRegex(done.stderr, r"^tipple: [^\n]*%s[^\n]*\n$" % word)


class Secrets(Case):
    CANARY = "k8Zq" + "LmW2xT"

    def test_nowhere(self):
        """no exception, log or command line of a child holds a password"""
        base = live.URI.partition("://")[2].partition("/")[0].rpartition("@")[2]
        seen, over = set(), threading.Event()

        def watch():
            while not over.is_set():
                for name in glob.glob("/proc/[0-9]*/cmdline"):
                    with contextlib.suppress(OSError), open(name, "rb") as line:
                        seen.add(line.read())
        uris = ["mongodb://me:%s@%s/%s.results" % (self.CANARY, base, self.database), "mongodb://me:%s@127.0.0.1:1/a.b" % self.CANARY,
                "mongodb:/me:%s@h" % self.CANARY, "mongodb://me:%s@h\0" % self.CANARY, "mongodb://me:%s@h/\ud800" % self.CANARY]
        calls = [lambda uri: tipple.load("a.csv", uri, patience="100ms"), lambda uri: tipple.verify("a.csv", uri, patience="100ms"),
                 lambda uri: tipple.run("status", "--patience=100ms", uri=uri), lambda uri: tipple.run("status", "--patience=100ms", "--uri", uri),
                 lambda uri: tipple.run("status", "--urx", uri), lambda uri: tipple.load("a.csv", uri, thread=uri),
                 lambda uri: tipple.load(uri, uri, format=uri), lambda uri: tipple.Load(uri, name=uri).finish()]
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            with self.assertLogs(level=logging.DEBUG) as heard:
                logging.info("one line at least")
                for call in calls:
                    for uri in uris:
                        with self.assertRaises(Exception) as raised:
                            call(uri)
                        error = raised.exception
                        self.assertIsInstance(error, tipple.Error, uri)
                        while error:
                            for shown in (str(error), repr(error), repr(error.__dict__)):
                                self.assertNotIn(self.CANARY, shown)
                            error = error.__cause__ or error.__context__ if not getattr(error, "__suppress_context__", False) else None
        finally:
            over.set()
            watcher.join()
        self.assertNotIn(self.CANARY, "\n".join(heard.output))
        self.assertEqual([], [line for line in seen if self.CANARY.encode() in line])
        self.assertTrue(any(line.startswith(str(lab.MODULE / "bin/tipple").encode()) for line in seen), "the watcher sees nothing")


if __name__ == "__main__":
    live.main()
