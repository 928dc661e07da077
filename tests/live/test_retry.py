"""tipple load --retry FILE, when FILE does not go with the collection any more, or was edited in ways that nobody asked for:
what can be loaded is, what cannot is named, and status, catalog and verify are true.
needs: standalone"""
import json
import re
import shlex
import signal

import live
import livetest
from livetest import Books, rows

LEFT_OUT = r"warning: %s: %s left out, .*no such record .*\(%s"


class Case(livetest.Case):
    def setUp(self):
        super().setUp()
        self.name = self.database + ".results.rejects"

    def bad(self, name, count=100, seed=1, numbers=(10, 20)):
        """Writes an input with rejects; its text, and the same with the rejects put right."""
        self.write(name, rows(count, seed, bad=set(numbers)))
        return rows(count, seed, bad=set(numbers)), rows(count, seed)

    def fixed(self, *pairs, source=None, target="fixed"):
        """The reject file with whole records of the second texts in place of those of the first ones."""
        kept = (self.folder / (source or self.name)).read_bytes()
        for cut, whole in pairs:
            for before, after in zip(cut.split(b"\n"), whole.split(b"\n")):
                if before != after:
                    kept = kept.replace(b"\n" + before + b"\n", b"\n" + after + b"\n")
        self.write(target, kept)
        return kept

    def forget(self, *names):
        self.tipple("forget", "--uri", self.uri(), "--delete", "--yes", *names, timeout=live.LONG)

    def inputs(self):
        return json.loads(self.tipple("status", "--uri", self.uri(), "--inputs", "--json").stdout)["inputs"]

    def open_rejects(self):
        return {entry["name"]: entry["open_rejects"] for entry in self.inputs()}

    def verified(self, *words, status=0):
        return self.tipple("verify", "--format", "mot", "--uri", self.uri(), *words, status=status)

    def bodies(self):
        return sorted(raw[17:-1] for raw in self.documents(raw=True))

    def holds_bodies(self, *texts):
        """Exactly the documents of these texts, whatever their `_id`s."""
        wanted = [livetest.body_of(record) for text in texts for _, _, record in livetest.records(text)]
        self.assertEqual(sorted(body for body in wanted if body is not None), self.bodies())


class Streams(Case):
    """Streams without a name, which are all called the same by who loads them."""

    def test_the_same_in_two(self):
        """two streams that have rejected the same bytes in the same place: each has an entry and a name of its own"""
        broken, whole = rows(50, bad={7}), rows(50)
        self.load("-", stdin=broken, status=2)
        self.load("-", stdin=broken, status=2)
        names = sorted(self.open_rejects())
        self.assertEqual(2, len(names))
        self.assertRegex(names[0] + names[1], r"^stdin#\d+stdin#\d+$")
        self.fixed((broken, whole))
        self.assertEqual(2, self.load("--retry", "fixed")["loaded"])
        self.assertEqual({name: 0 for name in names}, self.open_rejects())
        self.holds_bodies(whole, whole)
        self.shorten_lease()
        self.forget(names[0])
        self.assertEqual([names[1]], list(self.open_rejects()))
        self.holds_bodies(whole)


class Gone(Case):
    """Entries of what the catalog does not know (like that) any more."""

    def test_forgotten(self):
        """one of two inputs was forgotten: its entries are left out, the others are loaded"""
        self.shorten_lease()
        a, b = self.bad("a.csv"), self.bad("b.csv", seed=2, numbers=(1, 2, 3, 4))
        self.load("a.csv", "b.csv", status=2)
        self.forget("b.csv")
        self.fixed(a, b)
        said = self.load("--retry", "fixed")
        self.assertEqual((2, 2, 0, 0), (said["read"], said["loaded"], said["rejected"], said["open_rejects"]))
        self.assertRegex(self.stderr, LEFT_OUT % ("fixed", "4 entries are",
                                                  r"line \d+: b.csv at byte \d+; line .*; line .*; and 1 more\)"))
        self.assertEqual(1, self.stderr.count("left out"))
        self.holds_bodies(a[1])
        self.assertEqual({"a.csv": 0}, self.open_rejects())
        self.load("a.csv")
        for words in ((), ("--retry", "fixed")):
            done = self.verified("a.csv", *words)
            self.assertEqual(bool(words), "4 entries are left out" in done.stderr)
        self.fixed(b, target="still")  # what was left out changes nothing, what is still wrong does
        self.assertEqual(2, self.load("--retry", "still", status=2)["rejected"])

    def test_fixed_too_late(self):
        """a record was cut off, and the whole one was loaded: its entry is left out, with status 0, fixed or not"""
        whole = rows(100, 5)
        cut = whole[:whole.rindex(b"\n", 0, -1) + 31]
        self.write("a.csv", cut)
        self.assertEqual(1, self.load("a.csv", status=2)["rejected"])
        self.write("a.csv", whole)
        self.assertEqual(1, self.load("a.csv")["loaded"])
        other = rows(1, 77, header=False)[:-1]
        kept = (self.folder / self.name).read_bytes()
        self.write("fixed", kept.replace(b"\n" + cut[cut.rindex(b"\n") + 1:] + b"\n", b"\n" + other + b"\n"))
        for name in ("fixed", self.name):
            said = self.load("--retry", name)
            self.assertEqual((0, 0), (said["read"], said["loaded"]))
            self.assertRegex(self.stderr, LEFT_OUT % (name, "1 entry is", "line"))
            self.holds(Books().plain("a.csv", whole))
            self.verified("a.csv")
            self.verified("a.csv", "--retry", name)
        self.assertEqual(0, self.load("a.csv")["read"])
        self.assertEqual({"a.csv": 0}, self.open_rejects())


class Misused(Case):
    """Reject files that were edited in ways that nobody asked for."""

    def setUp(self):
        super().setUp()
        self.a = self.bad("a.csv")
        self.load("a.csv", status=2)
        self.kept = (self.folder / self.name).read_bytes()
        self.heads = re.findall(rb"(?m)^#@[0-9a-f]{8} offset=.*\n", self.kept)
        self.whole = self.fixed(self.a)

    def ends(self, text, status, loaded, rejected=0, opened=0):
        """What --retry of this text comes to; the catalog and verify agree."""
        self.write("edited", text)
        said = self.load("--retry", "edited", "--rejects", "more", status=status)
        self.warned = self.stderr
        self.assertEqual((loaded, rejected), (said["loaded"], said["rejected"]))
        self.assertEqual({"a.csv": opened}, self.open_rejects())
        self.load("a.csv", status=2 if opened else 0)
        self.verified("a.csv")
        return said

    def test_heads(self):
        """another offset, hash or input in a #@ line: that entry is left out, the other one is loaded"""
        first = self.heads[0]
        good = rows(100, 1, bad={10, 20}).index(b"\n", 300) + 1  # where a good record begins
        for edited in (re.sub(rb"offset=\d+", b"offset=%d" % good, first),
                       re.sub(rb"hash=.", b"hash=%c" % (b"0" if b"hash=0" not in first else b"1"), first),
                       first.replace(b"file=a.csv", b"file=b.csv")):
            self.assertNotEqual(first, edited)
            self.load("a.csv", "--drop", "--yes", status=2, timeout=live.LONG)
            self.ends(self.whole.replace(first, edited), 0, 1, opened=1)
            self.assertRegex(self.warned, LEFT_OUT % ("edited", "1 entry is", "line"))

    def test_two_collections(self):
        """entries of another collection among them: those of an input that this one does not know are left out"""
        b = self.bad("b.csv", seed=2)
        self.load("b.csv", "--rejects", "b.rejects", collection="other", status=2)
        more = self.fixed(b, source="b.rejects")
        mark, others = (re.search(rb"#@[0-9a-f]{8}", text)[0] for text in (self.kept, more))
        line = self.whole.count(b"\n") + more[:more.index(b"# marked")].count(b"\n") + 1
        self.refused("joined:%d: a second reject file" % line, "--retry", self.write("joined", self.whole + more).name)
        self.ends(self.whole + more[more.index(b"\n" + others + b" ") + 1:].replace(others, mark), 0, 2)
        self.assertRegex(self.warned, LEFT_OUT % ("edited", "2 entries are", "line"))
        self.holds_bodies(self.a[1])

    def test_renamed(self):
        """the reject file and the input have other names and places by now; --dry-run counts and writes nothing"""
        (self.folder / "a.csv").rename(self.folder / "elsewhere.csv")
        self.write("there/edited", self.whole)
        before = self.everything()
        self.assertEqual(2, self.load("--retry", "there/edited", "--dry-run")["loaded"])
        self.assertEqual(before, self.everything())
        self.assertEqual(2, self.load("--retry", "there/edited")["loaded"])
        (self.folder / "elsewhere.csv").rename(self.folder / "a.csv")
        self.ends(self.whole, 0, 0)


class Many(Case):
    def updates(self):
        """Statements, and commands that held them."""
        said = self.client.command("admin", {"serverStatus": 1})
        return said["opcounters"]["update"], said["metrics"]["commands"]["update"]["total"]

    def test_first_bytes(self):
        """of a record that is too long only the first bytes are kept: they make a document, but not the record's"""
        long = b"\n1|2|2016-01-02|4|NT|P|1|B|BMW|RED|PE|1|2001-01-01|" + b"X" * (17 << 20) + b"\n"
        self.write("long.yaml", b"format: long\nrecord: {delimiter: ['|'], multiline: no, header: no}\nfields: [{name: a}, {name: rest}]\n"
                   b"surplus: {into: rest, left: 1}\n")
        self.write("b.csv", b"1|x" + long + b"2|y\n")
        words = "--uri", self.uri("long"), "--format", "./long.yaml"
        self.tipple("load", *words, "--rejects", "long.rejects", "b.csv", status=2)
        kept = (self.folder / "long.rejects").read_bytes()
        self.assertIn(b" kept=65536 ", kept)
        head = kept[:kept.rindex(b"\n", 0, -1)]
        self.write("again", kept.replace(b"\n", b"\r\n"))
        self.write("edited", kept.replace(b"|BMW|", b"|FORD|"))
        for untouched in ("long.rejects", "again", "edited"):
            said = self.tipple("load", *words, "--retry", untouched, status=2)
            self.assertRegex(said.stderr, "rejected b.csv:2:1 .*first bytes")
            self.assertEqual(2, len(self.documents("long")))
            self.tipple("verify", *words, "--retry", untouched, "b.csv")
        self.write("whole", head + long[:1 << 20] + b"\n")
        self.tipple("load", *words, "--retry", "whole")
        self.tipple("verify", *words, "b.csv")
        self.tipple("load", *words, "b.csv")

    def test_saved_as_utf8(self):
        """a record of a format of one byte a character, which an editor has saved as UTF-8, or in which a user has typed
        it, or where signs that are none have taken its place; other signs after letters are what they are"""
        self.write("w.yaml", "format: w\nrecord: {delimiter: [','], header: no, encoding: windows-1252}\nfields: [{name: a}, {name: b}]\n")
        self.write("w.csv", "Gr\u00fc\u00dfe\nFu\u00df\n\u00fcber,1\n".encode("cp1252"))
        words = "--uri", self.uri("w"), "--format", "./w.yaml"
        self.tipple("load", *words, "--rejects", "w.rejects", "w.csv", status=2)
        kept = (self.folder / "w.rejects").read_bytes()
        for name, fixed in (("saved", kept.decode("cp1252").replace("\u00dfe\n", "\u00dfe,2\n").encode()),
                            ("typed", kept.replace(b"Gr\xfc\xdfe\n", "Gr\u00fc\u00dfe,2\n".encode())),
                            ("lost", kept.replace(b"Gr\xfc\xdfe\n", b"Gr\xef\xbf\xbd\xef\xbf\xbde,2\n"))):
            self.write(name, fixed)
            said = self.tipple("load", *words, "--rejects", "other", "--retry", name, status=2)
            self.assertRegex(said.stderr, "rejected w.csv:1:1 .*is UTF-8 now")
            self.assertEqual(["\u00fcber"], [each["a"] for each in self.documents("w")])
        self.write("right", kept.replace(b"Gr\xfc\xdfe\n", b"Gr\xfc\xdfe,2\n").replace(b"Fu\xdf\n", b"Fu\xdf\x96,3\n"))
        self.tipple("load", *words, "--retry", "right")
        self.assertEqual(["Gr\u00fc\u00dfe", "Fu\u00df\u2013", "\u00fcber"], [each["a"] for each in self.documents("w")])
        self.tipple("verify", *words, "w.csv")

    @livetest.nightly
    def test_many(self):
        """thousands of fixes of two inputs: the catalog gets them in a few updates, each of which writes all of an
        entry, and knows each; but no command holds more than a thousand, since a server looks for each in all of the entry"""
        numbers = set(range(50, 6050))
        a, b = self.bad("a.csv", 6050, numbers=numbers), self.bad("b.csv", 50, seed=2)
        self.load("a.csv", "b.csv", "--max-rejects", 100000, status=2)
        self.fixed(a, b)
        before = self.updates()
        self.assertEqual(6002, self.load("--retry", "fixed")["loaded"])
        statements, commands = (now - then for now, then in zip(self.updates(), before))
        self.assertLess(statements, 3000)  # of more than 12,000 fixes noted and confirmed; other tests use the server, too
        self.assertGreaterEqual(commands, 2 * 6)  # to note them, and to confirm them
        self.assertEqual({"a.csv": 0, "b.csv": 0}, self.open_rejects())
        self.holds_bodies(a[1], b[1])
        self.load("a.csv", "b.csv")
        self.verified("a.csv", "b.csv")

    def test_refused_and_left_out(self):
        """the server has refused a record, and it was left out: it is no reject when its block is read again, in words,
        numbers, reject file or status; and it can still be fixed"""
        self.client.command(self.database, {"create": "results", "validator": {"t": {"$ne": 13}}})
        text = rows(40, 1)
        lines = text.split(b"\n")
        lines[11] = re.sub(rb"^\d+", b"13", lines[11])
        self.write("a.csv", b"\n".join(lines))
        self.load("a.csv", status=2)
        kept = (self.folder / self.name).read_bytes()
        self.write("fixed", kept.replace(lines[11] + b"\n", b""))
        self.load("--retry", "fixed")
        self.write("a.csv", b"\n".join(lines) + rows(1, 99, header=False))
        said = self.load("a.csv")
        self.assertEqual((41, 1, 39, 0, 1), tuple(
            said[name] for name in ("read", "loaded", "already_there", "rejected", "filtered")))
        self.assertNotIn("rejected", self.stderr)
        self.assertEqual(kept, (self.folder / self.name).read_bytes())
        self.assertEqual({"a.csv": 0}, self.open_rejects())
        self.verified("a.csv", "--retry", "fixed")
        self.write("fixed", kept.replace(lines[11] + b"\n", text.split(b"\n")[11] + b"\n"))
        self.assertEqual(1, self.load("--retry", "fixed")["loaded"])
        self.assertEqual(41, len(self.documents(raw=True)))


class AtOnce(Case):
    """Several --retry at once, and while a load is at work."""

    def test_under_a_load(self):
        """while the load that rejects them is at work: what it has not written down yet waits, with status 2"""
        numbers = set(range(50, 4000, 100))
        a = self.bad("a.csv", 4000, numbers=numbers)
        load = self.start("-j", "1", "-b", "100", "--max-rate", "1500", "a.csv")
        path = self.folder / self.name
        self.assertTrue(livetest.wait_for(lambda: path.exists() and b" file=a.csv " in path.read_bytes()))
        load.send_signal(signal.SIGSTOP)  # with blocks that are read, and not written down
        try:
            self.fixed(a)
            said = self.load("--retry", "fixed", status=2)
            self.assertEqual(0, said["rejected"])
            self.assertGreater(said["open_rejects"], 0)
            self.assertIn("has not ended", self.stderr)
        finally:
            load.send_signal(signal.SIGCONT)
        _, err = load.communicate()
        self.assertEqual(2, load.returncode, err)
        self.fixed(a)
        self.assertEqual(len(numbers), said["loaded"] + self.load("--retry", "fixed")["loaded"])
        self.holds_bodies(a[1])
        self.assertEqual({"a.csv": 0}, self.open_rejects())
        self.load("a.csv")
        self.verified("a.csv")

    def test_left_out_too_early(self):
        """left out before the load that rejects it has written it down: it waits, with status 2, until that load was run again"""
        cut, whole = self.bad("a.csv")
        self.load("a.csv", "--max-rejects", 1, status=3)
        wrong = set(cut.splitlines(True)) - set(whole.splitlines(True))
        kept = (self.folder / self.name).read_bytes()
        self.write("left", b"".join(line for line in kept.splitlines(True) if line not in wrong))
        said = self.load("--retry", "left", status=2)
        self.assertEqual((0, 2), (said["read"], said["open_rejects"]))
        self.assertIn("2 entries are left out", self.stderr)
        self.load("a.csv", status=2)
        self.load("--retry", "left")
        self.load("a.csv")
        self.verified("a.csv")


# Each option of `tipple load`: what a load of an input has given that --retry needs, too; or why it does not.
NEEDED = {"--uri": None, "--format": None, "--on-bad-value": "reject", "--filter": "make!='A B'"}
NOT_NEEDED = {
    "of the URI, which is printed where it has no password": ["--uri-file"],
    "without a limit unless given": ["--max-rejects"],
    "kept in the catalog": ["--id", "--existing", "--append"],
    "part of the guessed format, which the catalog keeps": ["--with", "--type"],
    "of the collection, which is there": ["--index", "--drop", "--yes", "--shard-key", "--create",
                                          "--compressor", "--same-collection"],
    "of inputs, which --retry has none of": ["--input-name", "--copies", "--limit", "--skip-bad-files", "--new-columns",
                                             "--reload-changed", "--reload-missing", "--retry"],
    "changes no document": ["--threads", "--batch", "--memory", "--direct", "--max-rate", "--unsafe",
                            "--patience", "--dry-run", "--rejects", "--metrics", "--json", "--report", "--quiet", "--verbose", "--help",
                            "--version"]}


class Command(Case):
    def printed(self, *words):
        """The options of the command that a load prints for its rejects, which are those of its reject file."""
        done = self.tipple(*self.words(*words, json_wanted=False), status=2)
        line = re.search(r"fix (?:it|them), then:\n(.*)\n", done.stdout.decode()).group(1)
        kept = re.search(r"(?m)^#   (tipple load .*)$", (self.folder / self.name).read_text("latin-1")).group(1)
        self.assertEqual(sorted(shlex.split(line)), sorted(shlex.split(kept)))
        return line, shlex.split(line)

    def test_options(self):
        """the printed command has each option that --retry needs, whatever options there are, and makes the same documents"""
        known = set(re.findall(r"(?m)^ +(?:-\w, )?(--[a-z-]+)", self.tipple("load", "--help").stdout.decode()))
        self.assertEqual(known, {*NEEDED, *sum(NOT_NEEDED.values(), [])}, "new options go into one of the tables")
        a = self.bad("a.csv", 400)
        given = [word for option, value in NEEDED.items() if value for word in (option, value)]
        line, words = self.printed(*given, "a.csv")
        for option, value in NEEDED.items():
            self.assertIn(option, words)
            self.assertIn(value or words[words.index(option) + 1], words)
        self.fixed(a, target=self.name)
        done = self.tipple(*words[1:], "--json")
        self.assertEqual(2, json.loads(done.stdout)["loaded"], line)


class Large(Case):
    def test_memory(self):
        """rows of 15 MB, --memory 16M: below that, 32 MiB and three rows, also where their documents are there already, where
        the `_id`s are the data's own, and to verify them"""
        rows_bytes, most = 15000000, (16 << 20) + (32 << 20) + 3 * 15000000
        self.write("a.csv", b"n,k,t\n1,0,a\n" + b"".join(b"x%d,%d," % (i, i + 1) + b"t" * rows_bytes + b"\n" for i in range(8)))
        for target, own in (("big", []), ("own", ["--id", "k"])):
            self.tipple("load", "--uri", self.uri(target), "--type", "n:int", "--on-bad-value", "reject", *own, "a.csv", status=2)
            name = "%s.%s.rejects" % (self.database, target)
            self.write("fixed", re.sub(rb"(?m)^x(\d)", rb"\1", (self.folder / name).read_bytes()))
            words = "--retry", "fixed", "--memory", "16M", "--json", "--uri", self.uri(target)
            for words, part, count in ((("load", *words), "loaded", 8), (("load", *words), "already_there", 8),
                                       (("verify", *words, "a.csv"), "fixed", 8)):
                counts = json.loads(self.tipple(*words).stdout)
                self.assertEqual(count, counts[part])
                self.assertLess(counts["peak_memory_bytes"], most, (target, part))


if __name__ == "__main__":
    assert live.TIPPLE and re
    livetest.main()
