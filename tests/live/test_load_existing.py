"""Records whose `_id` another document has already: --existing reject, keep and replace. Which document has to be there is
computed in Python from the inputs' texts, in the order in which the catalog has them.
needs: standalone; nightly on: cluster"""
import random
import time

import livetest
import neverlost
import relay
from livecluster import Cluster


class Input:
    """Rows of a key and a value, as text and as documents."""

    def __init__(self, rows):
        self.rows = rows
        self.text = "k,v,w\n" + "".join("%s,%s,%d\n" % (key, value, i) for i, (key, value) in enumerate(rows))

    def apply(self, documents):
        for i, (key, value) in enumerate(self.rows):
            documents[key] = {"_id": key, "k": key, "v": value, "w": i}


def rows(count, keys, seed, name):
    draw = random.Random(seed)
    return Input([("key %d" % draw.randrange(keys), "%s %d" % (name, draw.randrange(1000))) for _ in range(count)])


def last(*inputs, start=()):
    documents = {each["_id"]: each for each in start}
    for each in inputs:
        each.apply(documents)
    return documents


class Ids:
    """Loads without a --format."""

    format = None

    def put(self, **inputs):
        for name, each in inputs.items():
            self.write(name + ".csv", each.text)

    def has(self, expected):
        found = {each["_id"]: each for each in self.documents()}
        wrong = [key for key in expected if found.get(key) != expected[key]]
        self.assertEqual([], [(found.get(key), expected[key]) for key in wrong][:3], "%d wrong" % len(wrong))
        self.assertEqual(len(expected), len(found))


class Existing(Ids, livetest.Case):
    def test_replace(self):
        """the last row of a key wins, within a file and over files, in the order of the catalog"""
        a, b, c = rows(600, 100, 1, "a"), rows(600, 140, 2, "b"), rows(400, 180, 3, "c")
        self.put(a=a, b=b, c=c)
        said = self.load("--id", "k", "--existing", "replace", "a.csv", "b.csv")
        expected = last(a, b)
        self.has(expected)
        fresh = len(expected)
        self.assertEqual((1200, 1200 - fresh), (said["loaded"], said["replaced"] + said["already_there"]))
        self.assertEqual(0, said["already_there"])
        said = self.verified("a.csv", "b.csv")
        self.assertEqual((fresh, fresh), (said["documents"], said["as_expected"]))
        self.assertEqual(1200 - fresh, said["replaced"])
        self.load("c.csv")
        self.has(last(a, b, c))
        self.verified("c.csv", "b.csv", "a.csv")
        self.assertEqual(0, self.load("b.csv", "a.csv", "c.csv")["read"])

    def test_others(self):
        """documents of others are replaced, too, and equal ones are simply there"""
        a = rows(2000, 3000, 4, "a")
        there = [{"_id": "key %d" % i, "x": i} for i in range(0, 2000, 3)]
        first = last(a)
        equal = [each for each in first.values() if len([1 for key, _ in a.rows if key == each["_id"]]) == 1][:50]
        there = [each for each in there if each["_id"] not in {one["_id"] for one in equal}] + equal
        self.put(a=a)
        self.client.insert(self.database, "results", there)
        said = self.load("--append", "--id", "k", "--existing", "replace", "a.csv")
        self.assertIn("stays as it is", self.stderr)
        self.has(last(a, start=there))
        self.assertEqual(50, said["already_there"])
        said = self.verified("a.csv")
        self.assertEqual(len(there) - len([1 for each in there if each["_id"] in first]), said["documents_not_ours"])

    def test_stream(self):
        """has its turn, too, where no other piece was taken before: its size is not known, and it costs nothing, as it seems"""
        a, b, c = rows(600, 100, 12, "a"), rows(100, 100, 13, "b"), rows(100, 100, 14, "c")
        self.put(a=a, c=c)
        self.load("--id", "k", "--existing", "replace", "--input-name", "b", "a.csv", "-", "c.csv", stdin=b.text)
        self.has(last(a, b, c))

    def test_again_by_another_name(self):
        """rows of the newest input may come again, by another name, and those of one that was forgotten"""
        a, b = rows(300, 100, 21, "a"), rows(100, 100, 22, "b")
        self.put(a=a, b=b)
        self.load("--id", "k", "--existing", "replace", "a.csv", "b.csv")
        self.put(copy=a, again=b)
        self.load("again.csv")
        self.has(last(a, b))
        self.tipple("forget", "a.csv", "--uri", self.uri())
        self.load("copy.csv")
        self.has(last(a, b, a))

    @livetest.nightly
    def test_same_collection(self):
        """the collection was copied with its catalog, and only the first of two inputs is given, or an older one"""
        a, b = rows(300, 100, 24, "a"), rows(100, 100, 25, "b")
        self.put(a=a, b=b)
        self.load("--id", "k", "--existing", "replace", "a.csv", "b.csv")
        documents = self.documents()
        self.client.command(self.database, {"drop": "results"})
        self.client.insert(self.database, "results", documents)
        for words in ["--same-collection"], []:
            self.load("a.csv", *words, status=1)
            self.assertRegex(self.stderr, "a.csv .*read again.* b.csv")
        self.has(last(a, b))
        self.load("a.csv", "b.csv")
        self.has(last(a, b))
        self.verified("a.csv", "b.csv")

    def test_old_content_again(self):
        """it comes from another folder when the first is gone: the message says that nothing of it is loaded, and how it is; where it has only
        been moved, nothing is said"""
        a, b = rows(300, 100, 28, "a"), rows(100, 100, 29, "b")
        self.write("1/p.csv", a.text)
        self.load("--id", "k", "--existing", "replace", "1/p.csv")
        self.write("2/p.csv", b.text)
        self.load("2/p.csv")
        (self.folder / "1").rename(self.folder / "old")
        self.load("old/p.csv")
        self.assertNotIn("was loaded since", self.stderr)
        (self.folder / "old/p.csv").unlink()
        self.write("3/p.csv", a.text)
        self.assertEqual(0, self.load("-q", "3/p.csv")["read"])
        self.assertRegex(self.stderr, "3/p.csv has .* 1/p.csv, .* 2/p.csv was loaded since")
        self.has(last(a, b))
        self.tipple("forget", "1/p.csv#0", "--uri", self.uri())
        self.load("3/p.csv")
        self.has(last(b, a))

    def test_spellings(self):
        """1 and 1.0 are one `_id`, and never replaced by one another; equal values of other types are"""
        self.write("a.json", '{"_id": 1, "v": 1}\n{"_id": 1.0, "v": 2}\n{"_id": 1, "v": 1.0}\n')
        said = self.load("--existing", "replace", "a.json", status=2)
        self.assertEqual((2, 1, 1), tuple(said[key] for key in ("loaded", "replaced", "rejected")))
        found = self.documents()
        self.assertEqual([("int", "float")], [(type(each["_id"]).__name__, type(each["v"]).__name__) for each in found])
        self.verified("a.json")

    def test_many_spellings(self):
        """many records whose _id a record before them has, written otherwise: verify asks for each of them as for one"""
        first, later = ("".join('{"_id": {"a": %d%s}, "v": 1}\n' % (i, end) for i in range(150)) for end in ("", ".0"))
        self.write("a.json", first + later + '{"_id": {"a": 3}, "v": 2}\n')
        self.load("a.json", status=2)
        said = self.verified("a.json")
        self.assertEqual((150, 151), (said["as_expected"], said["rejected"]))
        self.client.command(self.database, {"delete": "results", "deletes": [
            {"q": {"_id": {"$gte": {"a": 20}}}, "limit": 0}]})
        said = self.verified("a.json", status=7)
        self.assertEqual((20, 260, 21), (said["as_expected"], said["missing"], said["rejected"]))

    def test_torn(self):
        """a last record without a line end is applied before the next input"""
        self.write("a.csv", "k,v\n1,one\n2,two\n1,three")
        self.write("b.csv", "k,v\n1,four\n2,five")
        self.load("--id", "k", "--existing", "replace", "a.csv", "b.csv")
        self.assertEqual({1: "four", 2: "five"}, {each["_id"]: each["v"] for each in self.documents()})
        self.verified("a.csv", "b.csv")

    def test_retry(self):
        """a fixed record replaces nothing: whether it would come before or after what is there is not known"""
        self.write("a.csv", "k,v\n1,one\n,none\n,nothing\n2,two\n")
        self.load("--id", "k", "--existing", "replace", "a.csv", status=2)
        kept = self.folder / (self.database + ".results.rejects")
        self.write("fixed", kept.read_text().replace("\n,none", "\n3,three").replace("\n,nothing", "\n2,other"))
        said = self.load("--retry", "fixed", status=2)
        self.assertEqual((1, 1), (said["loaded"], said["rejected"]))
        self.assertEqual({1: "one", 2: "two", 3: "three"}, {each["_id"]: each["v"] for each in self.documents()})
        self.verified("a.csv")


class Lost(Ids, livetest.Case):
    """Replies that are lost, and messages that come later than what was sent after them."""
    server = "standalone"

    def setUp(self):
        super().setUp()
        neverlost.shorten_lease(self.uri(), 1)

    def test_back(self):
        """a replacement that comes when the bytes that it believes are back: they come back only after it"""
        late = []
        self.client.insert(self.database, "results", [{"_id": 1, "k": 1, "v": "one"}])

        def rule(message):
            if message.command != "update" or message.books or message.reply:
                return relay.PASS
            if not late:  # sent in the end, by hand, as one that was on its way would come
                late.append(message.raw)
                return relay.CUT
            return relay.PASS
        self.write("a.csv", "k,v\n1,two\n1,one\n")
        with relay.Relays([self.state["members"][0]["port"]], rule) as relays:
            began = time.monotonic()
            self.load("--append", "--id", "k", "--existing", "replace", "a.csv", "--uri", relays.rename(self.uri()))
            self.assertGreater(time.monotonic() - began, 0.9)  # a lease, until the first message cannot come any more
        self.assertEqual(1, len(late))
        self.assertEqual([{"_id": 1, "k": 1, "v": "one"}], self.documents())


class Sharded(Ids, Cluster):
    def test_shard_key(self):
        """fields of --id decide where a document is"""
        a = rows(400, 60, 16, "a")
        self.put(a=a)
        self.load("--id", "k", "--existing", "replace", "--shard-key", "k:hashed", "a.csv")
        self.has(last(a))
        self.verified("a.csv")


if __name__ == "__main__":
    livetest.main()
