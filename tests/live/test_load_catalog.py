"""The catalog of a load: what it holds, and that nothing is loaded twice. What is refused is in test_refusals.py.
needs: replset; nightly on: standalone"""
import contextlib
import gzip
import json
import os
import pty
import random

import live
import livetest
import minimongo as mongo
from livetest import Books, MIB, rows


class Held(livetest.Case):
    def test_status_behind_a_kill(self):
        """what a killed load has written down is a lower bound, and `status` says so; what the next one finds is not lost"""
        self.write("a.csv", rows(15000))
        load = self.start("-j", "1", "-b", "200", "--max-rate", "4K", "a.csv")
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 3000))
        self.assertIsNone(load.poll(), "it has ended too early")
        load.kill()
        load.wait(livetest.LONG)
        there, status = self.client.count(self.database, "results"), ("status", "--uri", self.uri(), "--inputs")
        said = json.loads(self.tipple(*status, "--json").stdout)
        self.assertLessEqual(said["loaded"], there)
        self.assertEqual(1, self.tipple(*status).stdout.decode().count("at least {:,}".format(said["loaded"])))
        counts = self.load("a.csv")
        said = json.loads(self.tipple(*status, "--json").stdout)
        for sums in said, said["inputs"][0]:
            self.assertEqual((15000 - counts["already_there"], counts["already_there"]),
                             (sums["loaded"], sums["already_there"]))
        self.assertNotIn(b"at least", self.tipple(*status).stdout)

    def test_files(self):
        """an entry an input: path, kind, size, digest, extents, done blocks, completeness, counts, rejects, no owner"""
        first, second = rows(3000, bad={3, 5}), rows(500, 2)
        packed = gzip.compress(second)
        self.write("a.csv", first)
        self.write("in/b.gz", packed)
        self.load("a.csv", "in/b.gz", "-", "--filter", "c==4 && y!=XX", stdin=second, status=2)
        expected = Books().plain("a.csv", first).gzip("in/b.gz", second, packed).stream("-", second)
        for file, units, book in zip(expected.files, expected.units, self.files(), strict=True):
            path = "stdin#%d" % file.ordinal if file.path == "-" else file.path
            self.assertEqual([file.ordinal, path, file.kind, file.disk], [
                book[key] for key in ("_id", "path", "kind", "size")])
            self.assertEqual([{"base": file.extents[0][0], "start": 0, "length": units * MIB}], book["extents"])
            self.assertEqual([True, [[0, file.windows()]], 1, False], [
                book[key] for key in ("complete", "done", "version", "removed")])
            good, bad = len(file.documents), len(file.rejected)
            self.assertEqual([good + bad, good, 0, bad, 0], [
                book[key] for key in ("read", "loaded", "already", "rejected", "filtered")])
            self.assertEqual([offset for offset, _, _ in file.rejected], [offset for offset, _ in book["rejects"]])
            self.assertEqual([(None, 1)], [(piece["owner"], piece["epoch"]) for piece in book["pieces"]])
            if file.kind == "stream":
                self.assertNotIn("digest", book)
            else:
                self.assertRegex(book["digest"], r"^[0-9a-f]{32}$")
        self.assertEqual("c==4 && y!=XX", self.header()["filter"])

    def test_loads(self):
        """a document a run, opened and closed with its settings, counts and status"""
        self.write("a.csv", rows(500, bad={7}))
        self.load("a.csv", "--threads", 3, "--batch", 70, status=2)
        self.load("a.csv", status=2)
        first, second = self.loads()
        self.assertEqual(["load", "mot", "", 3, 70, 2 << 20, False, 1, 2, 500, 499, 0, 1, 0], [first[key] for key in (
            "command", "format", "filter", "threads", "batch", "batchBytes", "unsafe", "files", "status", "read",
            "loaded", "alreadyThere", "rejected", "filtered")])
        self.assertTrue(first["host"] and first["version"])
        self.assertLessEqual(first["started"], first["ended"])
        self.assertEqual([2, 0, 0], [second[key] for key in ("status", "read", "loaded")])
        self.assertGreaterEqual(first["beat"], 1)
        self.assertEqual([first["_id"]], [entry["registeredBy"] for entry in self.catalog_entries()])

    def test_where(self):
        """`tipple where` finds file, offset, line and record of random ids, and refuses others"""
        plain, packed = rows(3000, bad={17}), rows(300, 2, end=b"\r\n")
        self.write("a.csv", plain)
        self.write("b.gz", gzip.compress(packed))
        self.write("c.zip", livetest.zip_of(("x/y.csv", packed, 8)))
        odd = rows(20, 5)
        self.write("d!\n\\x41.csv", odd)  # its name in the catalog is not its name on disk
        self.load("a.csv", "b.gz", "c.zip", "d!\n\\x41.csv", status=2)
        books = Books().plain("a.csv", plain).gzip("b.gz", packed, gzip.compress(packed)).plain("c.zip!x/y.csv", packed)
        books.plain("d!\\x0a\\x5cx41.csv", odd)
        draw = random.Random(5)
        for file in books.files:
            for number in draw.sample(sorted(file.documents), 2):
                offset, line, record = file.places[number]
                done = self.tipple("where", "--uri", self.uri(), number)
                self.assertEqual("%s offset %d line %d\n%s\n" % (file.path, offset, line, record.decode()),
                                 done.stdout.decode())
                said = json.loads(self.tipple("where", "--json", "--uri", self.uri(), number).stdout)
                self.assertEqual([number, True, file.path, offset, line], [
                    said[key] for key in ("id", "found", "file", "offset", "line")])
        (self.folder / "a.csv").unlink()
        number = min(books.files[0].documents)
        self.assertIn("a.csv offset", self.tipple("where", "--uri", self.uri(), number).stdout.decode())
        self.tipple("where", "--uri", self.uri(), number ^ 1 << 60, status=1)  # another lane
        self.write("a.csv", b"\x1b[2J" + plain[4:])
        header = self.tipple("where", "--uri", self.uri(), 0, status=1)  # a place where no document comes from
        self.assertRegex(header.stdout, rb"a.csv offset 0 line 1 \(.*changed")
        self.assertIn(b"\\x1b[2J", header.stdout)
        self.assertIn("no document has the _id 0", header.stderr)
        self.tipple("where", "--uri", self.uri(), 2**52, status=1)  # no file
        self.tipple("where", "--uri", self.uri("other"), number, status=1)  # no catalog

    def test_where_of_a_changed_file(self):
        """of today's file `where` concludes nothing where it is not the one that was loaded"""
        text = rows(500, seed=4)
        path = self.write("a.csv", text)
        self.load("a.csv")
        then = os.stat(path)
        number = sorted(Books().plain("a.csv", text).files[0].documents)[100]
        changed = "has been changed since"

        def where(number, status):
            done = self.tipple("where", "--uri", self.uri(), number, status=status)
            said = json.loads(self.tipple("where", "--uri", self.uri(), number, "--json", status=status).stdout)
            self.assertEqual([number, status, status == 0], [said[key] for key in ("id", "status", "document")])
            return done.stdout.decode(), done.stderr, said

        out, said, keys = where(number + 1, 1)
        self.assertIn("no record starts", said)
        self.assertIn("no document has the _id %d" % (number + 1), said)
        self.assertEqual(False, keys["changed"])
        for shown, more in (changed, text), ("ends before", text[:50]):
            self.write("a.csv", b"x" + more)
            os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns + 10**9))
            out, said, keys = where(number, 0)
            self.assertIn(shown, out)
            self.assertEqual("", said)
            out, said, keys = where(number + 2, 1)
            self.assertIn("no document has the _id %d: " % (number + 2), said)
            self.assertNotIn("no record starts", said)
            self.assertIn(shown, out)
        self.write("a.csv", text)
        os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))
        self.client.insert(self.database, "results", [{"_id": mongo.Int64(number + 1)}])
        done = self.tipple("where", "--uri", self.uri(), number + 1, status=1)
        self.assertIn("this file has the _id %d" % (number + 1), done.stderr)

    def test_where_of_json(self):
        """objects of JSON begin anywhere in a line: `where` finds each of an array in one line, and concludes nothing between"""
        for name, text in (("one.json", b'[{"a":1},{"a":2}, {"a":3}]'), ("two.json", b'  {"a":1} {"a":2}{"a":3}\n')):
            self.write(name, text)
            self.tipple("load", "--uri", self.uri(name), name)
            numbers = [document["_id"] for document in self.documents(name)]
            self.assertEqual(3, len(numbers))
            for number in numbers:
                done = self.tipple("where", "--uri", self.uri(name), number)
                self.assertEqual("", done.stderr)
            done = self.tipple("where", "--uri", self.uri(name), numbers[1] + 2, status=1)
            self.assertIn("no document has the _id %d" % (numbers[1] + 2), done.stderr)


class Again(livetest.Case):
    @livetest.nightly
    def test_large_last_record_was_cut_off(self):
        """a last record that was cut off is corrected, where no command holds both documents, and where only the old one was
        removed before a kill"""
        self.write("own.yaml", 'format: own\nrecord: {delimiter: ",", header: no}\nfields: [{name: a}, {name: b}]\n')
        words = ["--format", "./own.yaml", "a.csv"]
        torn, more = b"0,y\n1," + b"x" * (9 << 20), b"z" * (1 << 20)
        for collection, killed in (("whole", False), ("killed", True)):
            self.write("a.csv", torn)
            self.load(*words, collection=collection)
            if killed:
                self.assertEqual(1, self.client.command(self.database, {"delete": collection, "deletes": [
                    {"q": {"a": "1"}, "limit": 1}]})["n"])
            self.write("a.csv", torn + more + b"\n2,z\n")
            said = self.load(*words, collection=collection)
            self.assertEqual((0, 3), (said["rejected"], self.client.count(self.database, collection)))
            self.tipple("verify", "--uri", self.uri(collection), *words)
            self.write("a.csv", torn + more + b"\n2,z\n3,z\n")
            self.assertEqual(0, self.load(*words, collection=collection)["rejected"])
            self.assertEqual(4, self.client.count(self.database, collection))

    @livetest.nightly
    def test_last_record_was_none(self):
        """a last record that was cut off turns out to be no record (a header that is repeated, a byte-order mark), or another one"""
        for number, (record, fields, before, torn, after, expected) in enumerate((
                ("header: yes", "{name: a}, {name: bb}", b"a,bb\n1,2\na,b", 2, b"b\n3,4\n", [("1", "2"), ("3", "4")]),
                ("header: yes", "{name: name}", b"name\nx\nna", 2, b"me\ny\n", [("x",), ("name",), ("y",)]),
                ("header: [name]", "{name: name}", b"name\nx\nna", 2, b"me\ny\n", [("x",), ("y",)]),
                ("header: [name]", "{name: name}", b"na", 1, b"me\ny\n", [("y",)]),
                ("header: no", "{name: name}", b"\xef\xbb", 1, b"\xbfq\ny\n", [("q",), ("y",)]))):
            collection = "n%d" % number
            self.write("own.yaml", 'format: own\nrecord: {delimiter: ",", %s}\nfields: [%s]\n' % (record, fields))
            words = ["--format", "./own.yaml", "a.csv"]
            self.write("a.csv", before)
            self.load(*words, collection=collection)
            self.assertEqual(torn, self.client.count(self.database, collection), "the torn record is a document")
            self.write("a.csv", before + after)
            self.load(*words, collection=collection)
            found = [tuple(document.values())[1:] for document in
                     self.client.find(self.database, collection, sort={"_id": 1})]
            self.assertEqual(sorted(expected), sorted(found))
            self.tipple("verify", "--uri", self.uri(collection), *words)

    def answers_no(self, command):
        """What a command says on a terminal to a user who does not want it."""
        process, terminal = pty.fork()
        if not process:
            os.chdir(self.folder)
            os.execvp(command[0], command)
        said = b""
        with open(terminal, "r+b", buffering=0) as file:
            while b"[y/N]" not in said:
                said += file.read(4096)
            file.write(b"n\n")
            with contextlib.suppress(OSError):  # its end
                while more := file.read(4096):
                    said += more
        self.assertEqual(1, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), said)
        self.assertIn(b"nothing was touched", said)
        return said.decode()

    def test_drop(self):
        """--drop asks or wants --yes; then the collection and its catalog are new, but numbers go on"""
        self.write("a.csv", rows(500))
        self.write("b.csv", rows(700, 2))
        self.load("a.csv")
        said = self.answers_no(self.command("load", "-f", "mot", "--uri", self.uri(), "--drop", "b.csv"))
        self.assertIn("Drop %s.results with all" % self.database, said)
        self.assertEqual(700, self.load("b.csv", "--drop", "--yes")["loaded"])
        books = Books(after=Books().plain("a.csv", rows(500))).plain("b.csv", rows(700, 2))
        self.holds(books)
        (entry,) = self.files()
        self.assertEqual(("b.csv", True, books.files[0].ordinal), tuple(entry[key] for key in ("path", "complete", "_id")))
        self.assertEqual([500, 700], [load["loaded"] for load in self.loads()])
        self.assertEqual(700, self.load("b.csv", "--drop", "-y")["loaded"])
        self.holds(Books(after=books).plain("b.csv", rows(700, 2)))
        self.assertEqual(500, self.load("a.csv", "--drop", "--yes", collection="new")["loaded"])


class Around(livetest.Case):
    def setUp(self):
        super().setUp()
        self.write("a.csv", rows(500))
        self.write("b.csv", rows(500, 2))
        self.load("a.csv")

    def test_same_format(self):
        """taken: a file that says what the built-in format says"""
        self.write("mot.yaml", self.tipple("formats", "--show", "mot").stdout)
        self.assertEqual(500, self.load("b.csv", "--format", "./mot.yaml")["loaded"])

    def test_expiry(self):
        """a line says that the server removes documents from the collection by itself"""
        index = {"key": {"d": 1}, "name": "d_1", "expireAfterSeconds": 2000000000}
        self.client.command(self.database, {"createIndexes": "expiring", "indexes": [index]})
        self.load("a.csv", collection="expiring")
        self.assertRegex(self.stderr, r"warning: .* \S+\.expiring .*index d_1")
        self.load("a.csv", "--drop", "--yes", collection="expiring")
        self.assertNotIn("removes documents", self.stderr)

    def test_lines_within_the_last_block(self):
        """refused: a file in whose last line, a long one, another line begins now, and both of whose ends are the same"""
        self.write("long.yaml", "format: long\nrecord: {delimiter: [\",\"], header: yes}\n"
                                "fields:\n  - {name: k, type: int}\n  - {name: t}\n")
        text = b"k,t\n" + b"".join(b"%d,abcdefghijklmnopqrstuvwxyz\n" % k for k in range(20000)) + b"1,%s\n" % (b"x" * 700000)
        words = ["load", "--format", "./long.yaml", "--uri", self.uri("long"), "long.csv"]
        self.write("long.csv", text)
        self.tipple(*words)
        self.write("long.csv", text[:-200000] + b"\n2,abc" + text[-200000 + 6:])
        self.assertIn("has changed", self.tipple(*words, status=5).stderr)


if __name__ == "__main__":
    assert live.TIPPLE
    livetest.main()
