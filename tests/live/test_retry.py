"""tipple load --retry FILE, when FILE does not go with the collection any more, or was edited in ways that nobody asked for:
what can be loaded is, what cannot is named, and status, catalog and verify are true.
needs: standalone"""
import json
import re
import shlex

import live
import livetest
import minimongo as mongo
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


class OneName(Case):
    """Two inputs of one name: each day's file of today is moved away tomorrow."""

    def two(self, more, *options, rejects=("one.rej", "two.rej")):
        """Loads one with a reject, moves it away, and begins another one that has the same bytes there."""
        broken, whole = rows(50, bad={7}), rows(50)
        first, second = [("--rejects", name) if name else () for name in rejects]
        self.write("day.csv", broken)
        self.load("day.csv", *first, status=2)
        (self.folder / "old").mkdir()
        (self.folder / "day.csv").rename(self.folder / "old/day.csv")
        self.write("day.csv", more(broken))
        self.load("day.csv", "old/day.csv", *second, *options, status=2)
        return broken, whole

    @staticmethod
    def longer(broken):
        return broken + rows(1, 9, header=False)

    @staticmethod
    def other_end(broken):
        return broken[:-40] + rows(9, 9, header=False)

    def test_the_same_in_both(self):
        """the same bytes rejected at the same place: an entry says whose it is, and each input is fixed by its own"""
        broken, whole = self.two(self.longer)
        self.fixed((broken, whole), source="one.rej", target="one.fixed")
        self.load("--retry", "one.fixed")
        open_rejects = [each["open_rejects"] for each in self.inputs()]
        self.assertEqual([0, 1], open_rejects)
        self.fixed((broken, whole), source="two.rej", target="two.fixed")
        self.load("--retry", "two.fixed")
        self.assertEqual([0, 0], [each["open_rejects"] for each in self.inputs()])
        self.verified("day.csv", "old/day.csv")

    def test_in_one_file(self):
        """the same, in one reject file: it holds an entry of each"""
        broken, whole = self.two(self.longer, rejects=(None, None))
        self.assertEqual(2, (self.folder / self.name).read_bytes().count(b" input="))
        self.fixed((broken, whole))
        self.assertEqual(2, self.load("--retry", "fixed")["loaded"])
        self.assertEqual([0, 0], [each["open_rejects"] for each in self.inputs()])

    def test_the_older_one_is_left(self):
        """the newer of two inputs was forgotten: its entries are not the older one's, which has the same bytes there"""
        broken, whole = self.two(self.other_end)
        self.shorten_lease()
        self.forget("day.csv#1")
        self.fixed((broken, whole), source="two.rej", target="two.fixed")
        self.refused(r"two.fixed:\d+: .*day.csv .*not in the catalog", "--retry", "two.fixed")
        self.assertEqual([1], [each["open_rejects"] for each in self.inputs()])
        self.fixed((broken, whole), source="one.rej", target="one.fixed")
        self.assertEqual(1, self.load("--retry", "one.fixed")["loaded"])
        self.load("day.csv", "old/day.csv", "--rejects", "two.rej", status=2)  # again: then they are its own
        self.assertEqual(1, self.load("--retry", "two.fixed")["loaded"])

    def test_the_newer_one_is_left(self):
        """the older of two inputs was forgotten: its entries are not the newer one's, which was there before that"""
        broken, whole = self.two(self.other_end)
        self.shorten_lease()
        self.forget("day.csv#0")
        self.fixed((broken, whole), source="one.rej", target="one.fixed")
        self.refused(r"one.fixed:\d+: .*day.csv .*not in the catalog", "--retry", "one.fixed")
        self.assertEqual([1], [each["open_rejects"] for each in self.inputs()])
        self.fixed((broken, whole), source="two.rej", target="two.fixed")
        self.assertEqual(1, self.load("--retry", "two.fixed")["loaded"])
        self.verified("day.csv")

    def test_the_newer_one_is_loaded_later(self):
        """the newer one was begun before the older one was forgotten, and rejects the same bytes after that: the entry in
        the file is not its own, so it writes one; one that is loaded anew after that has the newer one's no more"""
        broken, whole = self.two(self.other_end, "--limit", 3, rejects=(None, None))
        self.shorten_lease()
        self.forget("day.csv#0")
        self.load("day.csv", status=2)
        kept = (self.folder / self.name).read_bytes()
        self.assertEqual([1, 1], [kept.count(b" input=%d " % ordinal) for ordinal in (0, 1)])
        self.forget("day.csv#1")
        self.load("day.csv", status=2)
        self.assertEqual(kept, (self.folder / self.name).read_bytes())
        self.fixed((broken, whole))
        self.assertEqual(1, self.load("--retry", "fixed")["loaded"])
        self.verified("day.csv")


class Streams(Case):
    """Streams without a name, which are all called the same by who loads them."""

    def test_the_one_that_has_rejected_it(self):
        """a fix goes to the stream that has rejected the record, also when others came behind it"""
        broken = [rows(50, seed, bad={7}) for seed in (1, 2)]
        whole = [rows(50, seed) for seed in (1, 2, 3)]
        for text, status in ((broken[0], 2), (whole[2], 0), (broken[1], 2), (whole[2], 0)):
            self.load("-", stdin=text, status=status)
        self.fixed((broken[0], whole[0]), (broken[1], whole[1]))
        for loaded in (2, 0):
            said = self.load("--retry", "fixed")
            self.assertEqual((loaded, 2 - loaded), (said["loaded"], said["already_there"]))
            self.assertNotIn("left out", self.stderr)
            self.holds_bodies(*whole, whole[2])

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
    """Entries of inputs that the catalog does not know (like that) any more."""

    def setUp(self):
        super().setUp()
        self.shorten_lease()

    def test_forgotten(self):
        """one of two inputs was forgotten: its entries are left out, the others are loaded"""
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

    def test_all_forgotten(self):
        """no entry belongs to the collection: it is the wrong file, and refused"""
        a = self.bad("a.csv")
        self.bad("b.csv", seed=2)
        self.load("a.csv", "--rejects", "a.rejects", status=2)
        self.load("b.csv", status=2)
        self.forget("a.csv")
        self.fixed(a, source="a.rejects")
        self.refused(r"fixed:\d+: .*a.csv .*not in the catalog", "--retry", "fixed")
        self.assertRegex(self.verified("b.csv", "--retry", "fixed", status=1).stderr, "a.csv .*not in the catalog")

    def test_loaded_anew(self):
        """one of two inputs was loaded anew from other content: the entries of the old one are left out"""
        a, old = self.bad("a.csv"), self.bad("b.csv", seed=2)
        self.load("a.csv", "b.csv", "--rejects", "r", status=2)
        new = self.bad("b.csv", seed=3, numbers=(10, 50))
        self.load("a.csv", "b.csv", "--rejects", "r", "--reload-changed", status=2, timeout=live.LONG)
        self.fixed(a, old, new, source="r")
        said = self.load("--retry", "fixed")
        self.assertEqual((4, 4, 0), (said["read"], said["loaded"], said["rejected"]))
        self.assertRegex(self.stderr, LEFT_OUT % ("fixed", "2 entries are", "line"))
        self.holds_bodies(a[1], new[1])
        self.load("a.csv", "b.csv")
        self.verified("a.csv", "b.csv")
        self.verified("a.csv", "b.csv", "--retry", "fixed")

    def test_loaded_anew_alone(self):
        """all entries are of the old content: refused"""
        old = self.bad("b.csv", seed=2)
        self.load("b.csv", "--rejects", "r", status=2)
        self.bad("b.csv", seed=3, numbers=())
        self.load("b.csv", "--reload-changed", timeout=live.LONG)
        self.fixed(old, source="r")
        self.refused("no such record of b.csv", "--retry", "fixed")


class Outgrown(Case):
    """A last record that was cut off, and is whole now."""

    def grown(self, left):
        """Loads an input that ends in the middle of its last record, then all of it. Both texts."""
        whole = rows(100, 5)
        cut = whole[:whole.rindex(b"\n", 0, -1) + 1 + left]
        self.write("a.csv", cut)
        self.assertEqual(1, self.load("a.csv", status=2)["rejected"])
        self.write("a.csv", whole)
        return cut, whole

    def test_fixed_too_late(self):
        """the whole record was loaded: an entry of what it was is left out, with status 0, fixed or not"""
        cut, whole = self.grown(30)
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

    def test_still_a_reject(self):
        """it has only grown by a line end, and is rejected as before: its entry counts"""
        whole = rows(1, 5, header=False)
        cut = rows(50, 6) + whole[:30]
        self.write("a.csv", cut)
        self.load("a.csv", status=2)
        self.write("a.csv", cut + b"\n")
        self.load("a.csv", status=2)
        self.fixed((cut, rows(50, 6) + whole))
        self.assertEqual(1, self.load("--retry", "fixed")["loaded"])
        self.holds_bodies(rows(50, 6) + whole)
        self.load("a.csv")
        self.verified("a.csv")

    def test_another_reject(self):
        """the whole record is a reject, too: only its own entry counts"""
        cut, whole = self.grown(30)
        text = whole[:whole.rindex(b"|")] + b"\n"
        self.write("a.csv", text)
        self.assertEqual(1, self.load("a.csv", status=2)["rejected"])
        self.fixed((cut, rows(99, 5) + rows(1, 77, header=False)), (text, whole))
        self.assertEqual(1, self.load("--retry", "fixed")["loaded"])
        self.assertRegex(self.stderr, LEFT_OUT % ("fixed", "1 entry is", "line"))
        self.holds_bodies(whole)
        self.load("a.csv")
        self.verified("a.csv")

    def fixed_early(self, fix, left=30):
        """Loads an input that ends in the middle of its last record, which a person fixes to this, or leaves out; then
        all of it is there. Both texts."""
        cut, whole = self.grown(left)
        self.write("a.csv", cut)
        self.fixed((cut, rows(99, 5) + fix))
        said = self.load("--retry", "fixed")
        self.assertEqual((len(fix) > 1, 0), (said["loaded"], said["open_rejects"]))
        self.load("a.csv")
        self.verified("a.csv")
        self.write("a.csv", whole)
        return cut, whole

    def open_now(self, text, fix, count=1):
        """The record is a reject, so that somebody decides, and stays one; the fix is in the collection."""
        said = self.load("a.csv", status=2)
        self.assertEqual((0, 1), (said["loaded"], said["rejected"]))
        self.assertRegex(self.stderr, "another document .* fixed to")
        for _ in range(2):
            self.assertEqual({"a.csv": count}, self.open_rejects())
            self.holds_bodies(rows(99, 5) + fix)
            self.verified("a.csv", status=7)
            self.assertEqual(0, self.load("a.csv", status=2)["read"])

    def remove_last(self):
        last = max(int.from_bytes(raw[9:17], "little") for raw in self.documents(raw=True))
        self.client.command(self.database, {"delete": "results", "deletes": [
            {"q": {"_id": mongo.Int64(last)}, "limit": 1}]})

    def test_fixed_before_it_grew(self):
        """it was fixed before the input had grown: nobody knows which of both counts, and nothing is left silently;
        then a person decides"""
        other = rows(1, 77, header=False)
        for decides in ("whole", "fixed"):
            self.client.drop_database(self.database)
            (self.folder / self.name).unlink(missing_ok=True)
            cut, whole = self.fixed_early(other)
            self.open_now(whole, other)
            self.assertEqual(1, self.load("--retry", self.name, status=2)["rejected"])
            self.assertRegex(self.stderr, LEFT_OUT % (self.name, "1 entry is", "line"))
            kept = (self.folder / self.name).read_bytes()
            if decides == "whole":  # the fix is taken away
                self.remove_last()
                self.assertEqual(1, self.load("--retry", self.name)["loaded"])
                self.holds_bodies(whole)
            else:  # the record is left out
                last = whole[whole.rindex(b"\n", 0, -1) + 1:]
                self.write("edited", kept.replace(b"\n" + last, b"\n"))
                self.load("--retry", "edited")
                self.holds_bodies(rows(99, 5) + other)
            self.load("a.csv")
            self.assertEqual({"a.csv": 0}, self.open_rejects())
            self.verified("a.csv")

    def test_left_out_before_it_grew(self):
        """it was left out: the whole record is loaded; or it is unusable, too, and then it is another reject"""
        _, whole = self.fixed_early(b"\n")
        self.assertEqual(1, self.load("a.csv")["loaded"])
        self.holds(Books().plain("a.csv", whole))
        self.verified("a.csv")
        self.load("--retry", "fixed")
        self.holds(Books().plain("a.csv", whole))
        self.client.drop_database(self.database)
        (self.folder / self.name).unlink()
        _, whole = self.fixed_early(b"\n")
        self.write("a.csv", whole[:whole.rindex(b"|")] + b"\n")
        self.assertEqual(1, self.load("a.csv", status=2)["rejected"])
        for _ in range(2):
            self.assertEqual({"a.csv": 1}, self.open_rejects())
            self.assertEqual(0, self.load("a.csv", status=2)["read"])

    def test_unusable_after_it_was_fixed(self):
        """it was fixed, and the whole record is unusable, or filtered: a reject that says what is in its place"""
        other = rows(1, 77, header=False)
        _, whole = self.fixed_early(other)
        self.write("a.csv", whole[:whole.rindex(b"|")] + b"\n")
        self.open_now(whole, other)

    def test_filtered_after_it_was_fixed(self):
        """the same where the filter leaves the whole record out"""
        other, whole = rows(1, 77, header=False), rows(100, 5)
        last = whole[whole.rindex(b"\n", 0, -1) + 1:-1].split(b"|")[-1].decode()
        last, kept = ("|2044-05-05", whole[:-1].rpartition(b"|")[0]) if last else (last, whole)
        cut, whole = kept[:kept.rindex(b"\n") + 31], kept + last.encode() + b"\n"
        words = ("--filter", "i!=2044-05-05", "a.csv")
        self.write("a.csv", cut)
        self.load(*words, status=2)
        self.fixed((cut, rows(99, 5) + other))
        self.load("--filter", "i!=2044-05-05", "--retry", "fixed")
        self.write("a.csv", whole)
        said = self.load(*words, status=2)
        self.assertEqual((0, 1, 0), (said["loaded"], said["rejected"], said["filtered"]))
        self.holds_bodies(rows(99, 5) + other)

    def test_fixed_before_its_line_end(self):
        """it was fixed, and has only grown by a line end, of either kind: it is the same record, and its fix stays"""
        other = rows(1, 77, header=False)
        for end in (b"\n", b"\r\n"):
            for fix in (other, b"\n"):
                self.client.drop_database(self.database)
                (self.folder / self.name).unlink(missing_ok=True)
                cut, _ = self.fixed_early(fix)
                self.write("a.csv", cut + end)
                for read in (100, 0):  # what was left out is read once more, and is no reject
                    said = self.load("a.csv")
                    self.assertEqual((read, 0, 0), (said["read"], said["rejected"], said["open_rejects"]))
                    self.assertEqual({"a.csv": 0}, self.open_rejects())
                    self.verified("a.csv")
                said = self.load("--retry", "fixed")
                self.assertEqual((len(fix) > 1, 0), (said["already_there"], said["rejected"]))
                self.assertNotIn("left out", self.stderr)


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
        self.told = self.stderr
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
                       re.sub(rb"offset=\d+", re.search(rb"offset=\d+", self.heads[1])[0], first),
                       re.sub(rb"offset=\d+", b"offset=99999999999", first),
                       re.sub(rb"hash=.", b"hash=%c" % (b"0" if b"hash=0" not in first else b"1"), first),
                       first.replace(b"file=a.csv", b"file=b.csv")):
            self.assertNotEqual(first, edited)
            self.load("a.csv", "--drop", "--yes", status=2, timeout=live.LONG)
            self.ends(self.whole.replace(first, edited), 0, 1, opened=1)
            self.assertRegex(self.told, LEFT_OUT % ("edited", "1 entry is", "line"))

    def test_windows(self):
        """an editor that writes CRLF and a byte order mark"""
        self.ends(b"\xef\xbb\xbf" + self.whole.replace(b"\n", b"\r\n"), 0, 2)
        self.holds_bodies(self.a[1])

    def test_deleted(self):
        """an entry that was deleted with its #@ line stays a reject"""
        at = self.whole.index(self.heads[1])
        self.ends(self.whole[:at], 0, 1, opened=1)
        self.ends(self.whole, 0, 1)
        self.holds_bodies(self.a[1])

    def test_twice(self):
        """the same entry twice: the first that makes a document counts; another document is a reject, and says so"""
        at = self.whole.index(self.heads[1])
        other = rows(1, 77, header=False)
        twice = self.whole + self.heads[1] + other
        said = self.ends(twice, 2, 2, rejected=1)
        self.assertRegex(self.told, "rejected a.csv:22:1 .*fixes the same")
        self.assertEqual([other[:-1]], [entry[4] for entry in self.entries("more")])
        self.assertEqual("more", said["rejects"])
        self.holds_bodies(self.a[1])
        for again in (self.kept[self.kept.index(self.heads[0]):], self.whole[at:], self.heads[0]):
            self.load("a.csv", "--drop", "--yes", status=2, timeout=live.LONG)
            self.ends(self.whole + again, 0, 2)
            self.holds_bodies(self.a[1])
            self.load("a.csv", "--drop", "--yes", status=2, timeout=live.LONG)
            head = self.whole.index(self.heads[0])
            self.ends(self.whole[:head] + again + self.whole[head:], 0, 2)
            self.holds_bodies(self.a[1])

    def test_sorted(self):
        """its lines were sorted: nothing says whose a record is, and none counts as left out"""
        last = self.whole.splitlines(True)[-1]
        for name, text in (("whole", self.whole), ("one", self.whole[:-len(last)])):
            self.write(name, b"".join(sorted(text.splitlines(True))))
            self.refused("%s: .*another order" % name, "--retry", name)
        self.assertEqual({"a.csv": 2}, self.open_rejects())

    def test_sorted_behind_its_comments(self):
        """records stand above the first #@ line, where nothing says whose they are: none counts as left out"""
        lines = self.whole.splitlines(True)
        first = self.whole[:self.whole.index(self.heads[0])]
        behind = lines[len(first.splitlines()):]
        for name, text in (("backwards", behind[::-1]), ("records first", sorted(behind, key=lambda line: line[:1] == b"#")),
                           ("without its first head", behind[1:]),
                           ("without heads", [line for line in behind if not line.startswith(b"#@")])):
            self.write(name, first + b"".join(text))
            self.refused("%s: .*another order" % name, "--retry", name)
        self.assertEqual({"a.csv": 2}, self.open_rejects())
        self.ends(first + b"\n# mine\n \n" + b"".join(behind), 0, 2)

    def test_two_collections(self):
        """entries of another collection among them: those of an input that this one does not know are left out"""
        b = self.bad("b.csv", seed=2)
        self.load("b.csv", "--rejects", "b.rejects", collection="other", status=2)
        more = self.fixed(b, source="b.rejects")
        mark, others = (re.search(rb"#@[0-9a-f]{8}", text)[0] for text in (self.kept, more))
        line = self.whole.count(b"\n") + more[:more.index(b"# marked")].count(b"\n") + 1
        self.refused("joined:%d: a second reject file" % line, "--retry", self.write("joined", self.whole + more).name)
        self.ends(self.whole + more[more.index(b"\n" + others + b" ") + 1:].replace(others, mark), 0, 2)
        self.assertRegex(self.told, LEFT_OUT % ("edited", "2 entries are", "line"))
        self.holds_bodies(self.a[1])

    def test_filtered(self):
        """a fixed record that the filter leaves out is no reject any more"""
        self.load("a.csv", "--filter", "i!=1999-01-01", "--drop", "--yes", status=2, timeout=live.LONG)
        cut = self.a[0].split(b"\n")[11]
        text = self.kept.replace(b"\n" + cut + b"\n", b"\n" + cut + b"|1999-01-01\n")
        self.write("edited", text)
        said = self.load("--retry", "edited", "--filter", "i!=1999-01-01", status=2)
        self.assertEqual((0, 1, 1), (said["loaded"], said["filtered"], said["rejected"]))
        self.assertEqual({"a.csv": 1}, self.open_rejects())

    def test_renamed(self):
        """the reject file and the input have other names and places by now"""
        (self.folder / "a.csv").rename(self.folder / "elsewhere.csv")
        self.write("there/edited", self.whole)
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
        self.write("empty", kept + b"\n\n")
        self.write("blank", kept[:-1] + b" \n")
        self.write("edited", kept.replace(b"|BMW|", b"|FORD|"))
        self.write("shorter", kept[:-10] + b"\n")
        for untouched in ("long.rejects", "again", "empty", "blank", "edited", "shorter"):
            said = self.tipple("load", *words, "--retry", untouched, status=2)
            self.assertRegex(said.stderr, "rejected b.csv:2:1 .*first bytes")
            self.assertEqual(2, len(self.documents("long")))
            self.tipple("verify", *words, "--retry", untouched, "b.csv")
        self.write("whole", head + long[:1 << 20] + b"\n")
        self.tipple("load", *words, "--retry", "whole")
        self.tipple("verify", *words, "b.csv")
        self.tipple("load", *words, "b.csv")

    def test_saved_as_utf8(self):
        """a record of a format of one byte a character, which an editor has saved as UTF-8, or in which a person has typed
        it, or where signs that are none have taken its place; other signs behind letters are what they are"""
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
        """thousands of fixes of two inputs: the catalog is told of them in a few updates, each of which writes all of an
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


    @livetest.nightly
    def test_again_where_there_is_no_more_room(self):
        """an entry is as full of fixes as it may be: the same --retry can still be run again, since it brings none that is
        new; other fixes are refused before anything is noted"""
        room, count = (15 << 20) // 160 - 40, 300
        a = self.bad("a.csv", 1000, numbers=set(range(100, 100 + count)))
        self.load("a.csv", "--max-rejects", 1000, status=2)
        fixes = {"%d-%016x" % (10**9 + number, number): {"noted": {"%016x" % 1: True}} for number in range(room - count)}
        self.client.command(self.database, {"update": "results.tipple.files", "updates": [
            {"q": {"path": "a.csv"}, "u": {"$set": {"fixes": fixes}}}]})
        self.fixed(a)
        for loaded in (count, 0):
            self.assertEqual((count, loaded), (lambda said: (said["read"], said["loaded"]))(self.load("--retry", "fixed")))
        self.holds_bodies(a[1])
        self.fixed((a[0], re.sub(rb"\|\d{4}-\d\d-\d\d\n", b"|1977-07-07\n", a[1])), target="other")
        self.tipple("load", "--format", "mot", "--uri", self.uri(), "--retry", "other", status=1)
        self.load("a.csv")



class LeftOut(Case):
    """A reject that was answered is none any more, whichever run reads its block again, and why."""

    def answer(self, fix, *words):
        """Loads two rejects, and answers the first one by this line (None: by no line), the second one by a document."""
        self.cut, self.whole = self.bad("a.csv", 40, numbers=(10, 20))
        self.load("a.csv", *words, status=2)
        kept = self.fixed((self.cut, self.whole))
        line = self.whole.split(b"\n")[11] + b"\n"
        self.assertEqual(1, kept.count(line))
        self.write("fixed", kept.replace(line, fix or b""))
        said = self.load("--retry", "fixed", *[word for word in words if word != "--unsafe"])
        self.assertEqual((1, 0), (said["loaded"], said["rejected"]))
        self.load("a.csv", *words)

    def again(self, *words, loaded=0, records=40):
        """Its block is read again: nothing is rejected, in words, numbers, reject file or status."""
        before = (self.folder / self.name).read_bytes()
        said = self.load("a.csv", *words)
        self.assertEqual((records, loaded, records - loaded - 1, 0, 1), tuple(
            said[name] for name in ("read", "loaded", "already_there", "rejected", "filtered")))
        self.assertNotIn("rejected", self.stderr)
        self.assertEqual(before, (self.folder / self.name).read_bytes())
        self.assertEqual({"a.csv": 0}, self.open_rejects())
        self.assertEqual(0, self.load("a.csv", *[word for word in words if word != "--same-collection"])["read"])
        self.verified("a.csv", "--retry", "fixed")

    def grow(self):
        more = rows(1, 99, header=False)
        (self.folder / "a.csv").write_bytes(self.cut + more)
        return more

    def test_grown(self):
        """the input has grown"""
        self.answer(None)
        self.grow()
        self.again(loaded=1, records=41)

    def test_filtered(self):
        """the filter leaves the fixed record out, and the input has grown"""
        line = rows(40, 1).split(b"\n")[11].rpartition(b"|")[0] + b"|1999-01-01\n"
        words = ("--filter", "i!=1999-01-01")
        self.answer(line, *words)
        self.grow()
        self.again(*words, loaded=1, records=41)

    def test_unsafe(self):
        """it was loaded by --unsafe, and is not now"""
        self.answer(None, "--unsafe")
        self.again()

    def test_same_collection(self):
        """the collection has another UUID"""
        self.answer(None)
        list(self.client.aggregate(self.database, "results", [{"$out": "copy"}]))
        self.client.command("admin", {"renameCollection": self.database + ".copy", "to": self.database + ".results",
                                      "dropTarget": True})
        self.again("--same-collection")

    def test_refused(self):
        """the server has refused it; and it can still be fixed"""
        self.client.command(self.database, {"create": "results", "validator": {"t": {"$ne": 13}}})
        text = rows(40, 1)
        lines = text.split(b"\n")
        lines[11] = re.sub(rb"^\d+", b"13", lines[11])
        self.write("a.csv", b"\n".join(lines))
        self.load("a.csv", status=2)
        kept = (self.folder / self.name).read_bytes()
        self.write("fixed", kept.replace(lines[11] + b"\n", b""))
        self.load("--retry", "fixed")
        self.cut = b"\n".join(lines)
        self.grow()
        self.again(loaded=1, records=41)
        self.write("fixed", kept.replace(lines[11] + b"\n", text.split(b"\n")[11] + b"\n"))
        self.assertEqual(1, self.load("--retry", "fixed")["loaded"])
        self.assertEqual(41, len(self.documents(raw=True)))


class AtOnce(Case):
    """Several --retry at once, and while a load is at work."""

    def both(self, *names):
        loads = [self.start("--retry", name, "--rejects", name + ".more", "--max-rejects", 100000) for name in names]
        said = []
        for load in loads:
            out, err = load.communicate(timeout=live.LONG)
            self.assertIn(load.returncode, (0, 2), err.decode())
            said.append(livetest.Counts(json.loads(out)))
            self.assertEqual(2 if said[-1]["rejected"] else 0, load.returncode)
        return said

    def test_two(self):
        """the same file by two processes: each record once, both end well"""
        a = self.bad("a.csv", 3000, numbers=set(range(100, 2100)))
        self.load("a.csv", "--max-rejects", 100000, status=2)
        self.fixed(a)
        said = self.both("fixed", "fixed")
        self.assertEqual([(2000, 0)] * 2, [(one["loaded"] + one["already_there"], one["rejected"]) for one in said])
        self.assertEqual(2000, sum(one["loaded"] for one in said))
        self.holds_bodies(a[1])
        self.assertEqual({"a.csv": 0}, self.open_rejects())
        self.load("a.csv")
        self.verified("a.csv")

    def test_two_fixes(self):
        """other fixes of the same records by two processes: each record is one of both, and known"""
        numbers = set(range(100, 2100))
        a = self.bad("a.csv", 3000, numbers=numbers)
        self.load("a.csv", "--max-rejects", 100000, status=2)
        self.fixed(a)
        self.fixed((a[0], re.sub(rb"\|\d{4}-\d\d-\d\d\n", b"|1977-07-07\n", a[1])), target="other")
        said = self.both("fixed", "other")
        self.assertEqual([2000] * 2, [one["read"] for one in said])
        self.assertEqual(2000, sum(one["loaded"] for one in said))
        self.assertEqual(3000, self.client.count(self.database, "results"))
        self.assertEqual({"a.csv": 0}, self.open_rejects())
        self.load("a.csv")
        self.verified("a.csv")

    def test_under_a_load(self):
        """while the load that rejects them is at work: what it has not written down yet waits, with status 2"""
        numbers = set(range(50, 8000, 100))
        a = self.bad("a.csv", 8000, numbers=numbers)
        load = self.start("-j", "1", "-b", "100", "--max-rate", "1500", "a.csv")
        path, loaded, waited = self.folder / self.name, 0, 0
        self.assertTrue(livetest.wait_for(lambda: path.exists() and b" file=a.csv " in path.read_bytes()))
        while load.poll() is None:
            self.fixed(a)
            said = self.load("--retry", "fixed", status=(0, 2))
            self.assertEqual(0, said["rejected"])
            loaded += said["loaded"]
            waited += said["open_rejects"]
            self.assertEqual(bool(said["open_rejects"]), "has not ended" in self.stderr)
            self.load("--retry", self.name, status=2)  # as it grows: all of it is still wrong
        out, err = load.communicate()
        self.assertIn(load.returncode, (0, 2), err)
        self.assertGreater(waited, 0)
        self.fixed(a)
        loaded += self.load("--retry", "fixed")["loaded"]
        self.assertEqual(len(numbers), loaded)
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
    "without a limit unless told": ["--max-rejects"],
    "kept in the catalog": ["--id", "--existing", "--append"],
    "part of the guessed format, which the catalog keeps": ["--with", "--type"],
    "of the collection, which is there": ["--index", "--drop", "--yes", "--shard-key", "--create",
                                          "--compressor", "--same-collection"],
    "of inputs, which --retry has none of": ["--input-name", "--copies", "--limit", "--skip-bad-files", "--reload-changed",
                                             "--reload-missing", "--retry"],
    "changes no document": ["--threads", "--batch", "--memory", "--direct", "--max-rate", "--unsafe",
                            "--patience", "--dry-run", "--rejects", "--json", "--report", "--quiet", "--verbose", "--help",
                            "--version"]}


class Command(Case):
    def printed(self, *words):
        """The options of the command that a load prints for its rejects, which are those of its reject file."""
        done = self.tipple(*self.words(*words, json_wanted=False), status=2)
        line = re.search(r"fix (?:it|them), then: (.*)\)", done.stdout.decode()).group(1)
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

    def test_filter(self):
        """what the load's filter leaves out stays out when it is fixed"""
        a = self.bad("a.csv", 400, numbers=range(10, 40))
        _, words = self.printed("--filter", "make==FORD", "a.csv")
        self.fixed(a, target=self.name)
        said = json.loads(self.tipple(*words[1:], "--json").stdout)
        fords = sum(b"|FORD|" in line for line in a[1].splitlines()[11:41])
        self.assertEqual((30, fords, 30 - fords), (said["read"], said["loaded"], said["filtered"]))


if __name__ == "__main__":
    assert live.TIPPLE and re
    livetest.main()
