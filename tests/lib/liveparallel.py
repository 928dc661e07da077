"""liveparallel: random pipelines over random documents, and answers that are compared as what they mean.

    case.agree("results", [[{"$group": {...}}], ...])     # tipple's parallel runs against what the server itself says
"""
import math
import random
import struct
import sys
import threading
import time

import live
import livetest
import minimongo as mongo
from minimongo import Binary, Date, Decimal128, Int64, ObjectId, Timestamp

KEYS = ("a", "b", "$k", "$$NOW", "$a.b", "", "é", 1, Int64(1), 1.0, Decimal128.parse("1.0"), 2, 2.5, 0, -0.0, None,
        None, float("nan"), Decimal128.parse("NaN"), float("inf"), Int64(2**53 + 1), float(2**53), True, False, Date(0),
        Date(1400000000000), Timestamp(5 << 32 | 1), ObjectId(b"0123456789ab"), Binary(b"\0\1"),
        {"a": 1}, {"a": 1.0}, {"a": None}, {}, {"$x": 1}, {"a.b": "$x"}, [], [1, 2], [1.0, 2], [None], {"b": 1, "a": 2})
MISSING = object()


# --------------------------------------------------------------------------------------------------- documents

def value(draw):
    """Anything that a sum, an average, a least or a greatest may meet; sums of it are of moderate size."""
    kind = draw.randrange(16)
    if kind < 5:
        return draw.randrange(-50, 50)
    if kind < 7:
        return Int64(draw.randrange(-50, 50))
    if kind < 10:
        return draw.uniform(-100, 100)
    return (MISSING, None, "text", Date(draw.randrange(10**12)), Decimal128.parse("%.3f" % draw.uniform(-9, 9)),
            draw.choice(KEYS[:6]))[kind - 10]


def wide(draw):
    """Whole numbers whose sums leave 64 bits, or come back into them, and what counts for nothing."""
    kind = draw.randrange(8)
    if kind < 2:
        return Int64(draw.choice((2**63 - 1, -2**63, 2**62, -2**62, 3 * 2**61)))
    if kind < 4:
        return Int64(draw.randrange(-2**40, 2**40))
    return (draw.randrange(-2**31, 2**31), None, "text", MISSING)[kind - 4]


def document(draw, number):
    made = {"_id": number, "n": draw.randrange(7),
            "k": draw.choice((draw.choice(KEYS), draw.choice(KEYS[:9]), MISSING)),
            "x": value(draw), "w": wide(draw), "f": draw.uniform(-100, 100), "d": Date(draw.randrange(10**12)),
            "even": 2 * draw.randrange(1000),
            "list": draw.choice((MISSING, None, 7, [], [value(draw) for _ in range(draw.randrange(1, 5))])),
            "nest": draw.choice((MISSING, None, {}, {"a": value(draw)}, {"a": value(draw), "b": draw.choice(KEYS)}))}
    if isinstance(made["list"], list):
        made["list"] = [item for item in made["list"] if item is not MISSING]
    if isinstance(made["nest"], dict):
        made["nest"] = {key: item for key, item in made["nest"].items() if item is not MISSING}
    return {key: item for key, item in made.items() if item is not MISSING}


def ids(kind, count, draw):
    """So many different _ids of a kind."""
    def mixed(number):
        return (number, "%d" % number, ObjectId(struct.pack(">QI", number, 7)), number + 0.5)[number % 4]
    makers = {
        "positions": lambda number: Int64(livetest.record_id_make(3, number * 9000, 0)),
        "numbers": lambda number: (number, Int64(number), float(number), number + 0.5)[number % 4] if number else -0.0,
        "objectids": lambda number: ObjectId(struct.pack(">IQ", 1400000000 + number, draw.getrandbits(64))),
        "texts": lambda number: "%s%d" % (draw.choice(("", "$", "é", "z")), number),
        "doubles": lambda number: draw.uniform(-1e6, 1e6),
        "dates": lambda number: Date(number * 3600000),
        "binaries": lambda number: Binary(struct.pack(">Q", draw.getrandbits(64))),
        "documents": lambda number: {"a": number // 10, "b": "%d" % number},
        "mixed": mixed,
    }
    return [makers[kind](number) for number in range(count)]


KINDS = ("positions", "numbers", "objectids", "texts", "doubles", "dates", "binaries", "documents", "mixed")


# --------------------------------------------------------------------------------------------------- pipelines

def lead(draw, numbers):
    """A stage that looks at one document at a time."""
    least = draw.choice(numbers)
    return draw.choice((
        lambda: {"$match": {"n": {"$gte": draw.randrange(4)}}},
        lambda: {"$match": {"_id": {draw.choice(("$gte", "$lt", "$ne", "$gt", "$lte")): least}}},
        lambda: {"$match": {"$expr": {"$lt": ["$even", 1500]}}},
        lambda: {"$match": {"k": draw.choice(("$k", "$$NOW", 1, None))}} if draw.randrange(3) == 0 else
                {"$match": {"k": {"$ne": "$k"}}},
        lambda: {"$match": {"n": 99}} if draw.randrange(6) == 0 else {"$match": {}},
        lambda: {"$project": {"k": 1, "x": 1, "w": 1, "f": 1, "n": 1, "nest": 1, "list": 1, "even": 1, "d": 1}},
        lambda: {"$project": {"nest": 0, "_id": 0}},
        lambda: {"$set": {"x": {"$ifNull": ["$nest.a", "$x"]}, "y": {"$literal": "$$NOW"}}},
        lambda: {"$addFields": {"n": {"$add": ["$n", 1.0]}, "g": {"$mod": ["$even", 6]}}},
        lambda: {"$unset": draw.choice(("nest", "k", ["x", "list"]))},
        lambda: {"$unwind": "$list"},
        lambda: {"$unwind": {"path": "$list", "preserveNullAndEmptyArrays": True, "includeArrayIndex": "at"}},
        lambda: {"$replaceRoot": {"newRoot": {"$mergeObjects": ["$nest", "$$ROOT"]}}},
        lambda: {"$replaceWith": {"k": "$k", "x": "$list", "w": "$w", "f": "$f", "n": "$n", "even": "$even"}},
    ))()


def expression(draw):
    return draw.choice(("$x", "$x", "$w", "$w", "$f", "$n", "$even", "$nest.a", "$list", "$at", "$missing", "$k", 1,
                        Int64(3), 0.25, {"$multiply": ["$even", "$n"]}, {"$cond": [{"$gt": ["$n", 3]}, "$f", "$even"]},
                        {"$literal": "$x"}))


def accumulators(draw):
    made = {}
    for number in range(draw.randrange(0, 6)):
        operator = draw.choice(("$sum", "$sum", "$avg", "$min", "$max", "$count"))
        name = draw.choice(("s%d", "n%d", "m%d", "total %d", "é%d")) % number
        made[name] = {operator: {} if operator == "$count" else expression(draw)}
    return made


SORTED = ("$n", None, 7, {"$type": "$w"}, {"$mod": ["$even", 5]})


def group(draw):
    kind = draw.randrange(12)
    if kind == 0:
        return {"$count": draw.choice(("n", "n0", "there are"))}
    if kind == 1:
        return {"$sortByCount": draw.choice(("$k", "$n", {"$type": "$x"}))}
    key = draw.choice(("$k", "$k", "$n", None, "$nest", "$nest.b", "$x", "$list", "$missing", 7, {"$type": "$w"},
                       {"k": "$k", "n": "$n"}, {"missing": "$missing", "b": {"a": "$nest.a"}}, {"$mod": ["$even", 5]},
                       ["$k", "$n"]))
    return {"$group": {"_id": key, **accumulators(draw)}}


def rest(draw, grouped):
    """What may follow, with one right answer only: nothing depends on the order of groups."""
    if "$group" not in grouped:
        return draw.choice(([], [{"$match": {}}], [{"$set": {"more": 1}}]))
    choices = [
        [], [], [], [{"$sort": {"_id": 1}}],
        [{"$group": {"_id": None, "groups": {"$sum": 1}, "least": {"$min": "$_id"}}}],
        [{"$count": "groups"}],
        [{"$match": {"_id": {"$ne": None}}}, {"$set": {"later": "$_id"}}],
    ]
    if grouped["$group"]["_id"] in SORTED:  # an array sorts by one of its elements
        choices += [[{"$sort": {"_id": -1}}, {"$skip": 1}, {"$limit": 3}],
                    [{"$facet": {"all": [{"$count": "n"}], "sorted": [{"$sort": {"_id": 1}}, {"$limit": 2}]}}]] * 2
    return draw.choice(choices)


def pipeline(draw, numbers):
    grouped = group(draw)
    return [lead(draw, numbers) for _ in range(draw.choice((0, 0, 1, 1, 2, 3)))] + [grouped] + rest(draw, grouped)


# ----------------------------------------------------------------------------------------------------- answers

def number_of(item):
    """A number, whatever its type; None: it is none."""
    if isinstance(item, Decimal128):
        return float(str(item))
    return item if type(item) in (int, Int64, float) else None


def same(a, b):
    """Equal as the server compares, doubles to within rounding; fields in the same order."""
    x, y = number_of(a), number_of(b)
    if x is not None and y is not None:
        both = isinstance(x, float) and isinstance(y, float)
        return x == y or both and (x != x and y != y or math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-9))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def differing(found, wanted):
    """As sets: what is in one and not in the other."""
    left, missing = list(found), []
    for each in wanted:
        for at, other in enumerate(left):
            if same(other, each):
                del left[at]
                break
        else:
            missing.append(each)
    return left, missing


class Case(livetest.Case):
    """A test that runs suites of pipelines."""

    def fill(self, collection, kind, count, seed):
        draw = random.Random(seed)
        numbers = ids(kind, count, draw)
        documents = [document(draw, number) for number in numbers]
        draw.shuffle(documents)  # as they lie in a plain collection
        for at in range(0, count, 500):
            self.client.insert(self.database, collection, documents[at:at + 500], ordered=False)
        return numbers

    def make(self, collection, clustered):
        more = {"clusteredIndex": {"key": {"_id": 1}, "unique": True}} if clustered else {}
        self.client.command(self.database, {"create": collection, **more})

    def suite(self, pipelines, **options):
        """A suite file with queries q0, q1, ..."""
        lines = ["suite: made", "queries:"]
        for number, stages in enumerate(pipelines):
            lines += ["  - name: q%d" % number, "    pipeline: %s" % mongo.extended_line({"": stages})[5:-1]]
            if options:
                lines.append("    options: %s" % mongo.extended_line(options))
        self.write("x.yaml", "\n".join(lines) + "\n")

    def query(self, collection, *words, status=0, timeout=livetest.LONG):
        """What --json says, with values of their types."""
        done = self.tipple("query", "-q", "--suite", "./x.yaml", "--uri", self.uri(collection), "--json", "--repeats",
                           1, "--warmup", 0, *words, status=status, timeout=timeout)
        self.stderr = done.stderr
        return mongo.parse_extended(done.stdout)["queries"] if done.stdout else None

    def explained(self, collection, *words):
        return self.tipple("query", "--suite", "./x.yaml", "--uri", self.uri(collection), "--explain",
                           *words).stdout.decode()

    def script(self, database, *commands):
        """Words for a shell that send the server commands."""
        path = self.write("commands.py", "import minimongo\nclient = minimongo.Client(%r)\n" % live.URI + "".join(
            "client.command(%r, minimongo.parse_extended(%r))\n" % (database, mongo.extended_line(command))
            for command in commands))
        return "%s %s" % (sys.executable, path)

    def agree(self, collection, pipelines, parallel="off,2,5", **options):
        """Each of tipple's answers is the server's own; the measurements."""
        plain = {name: value for name, value in options.items() if name != "batchSize"}
        self.suite(pipelines, **options)
        measured = self.query(collection, "--parallel", parallel)
        self.assertEqual(len(pipelines) * len(parallel.split(",")), len(measured))
        for each in measured:
            stages = pipelines[int(each["name"][1:])]
            wanted = list(self.client.aggregate(self.database, collection, stages, **plain))
            self.assertTrue(each["result_complete"])
            more, missing = differing(each["result"], wanted)
            if more or missing:
                self.fail("%s, --parallel %s: %s\nis not among them: %s\nis too many: %s\nwhole because: %s" % (
                    collection, each["parallel"], mongo.extended_line({"": stages})[5:-1],
                    missing[:3], more[:3], each["whole_because"]))
        return measured


class Moments(Case):
    """All ranges see one moment: whoever inherits makes the collection."""
    BETWEEN = 0.002

    def fill_alternately(self, ends):
        """Documents 0, 1, 2, ... at the one end and the other, for as long as the test asks."""
        number = 0
        with mongo.Client(live.URI) as client:
            while not ends.is_set():
                client.insert(self.database, "results", [{"_id": Int64(number % 2 << 62 | number << 1 | 1),
                                                          "number": number}])
                number += 1
                time.sleep(self.BETWEEN)

    def one_moment(self):
        self.client.insert(self.database, "results",
                           [{"_id": Int64(number << 50), "number": -1} for number in range(8000)], ordered=False)
        slow = {"$expr": {"$ne": [{"$reduce": {"input": {"$range": [0, 20]}, "initialValue": 0, "in": {
            "$add": ["$$value", "$$this"]}}}, 7]}}
        self.suite([[{"$match": slow}, {"$match": {"number": {"$gte": 0}}},
                     {"$group": {"_id": None, "n": {"$sum": 1}, "last": {"$max": "$number"}}}]]
                   * (40 if livetest.NIGHTLY else 10))
        ends = threading.Event()
        writer = threading.Thread(target=self.fill_alternately, args=(ends,))
        writer.start()
        try:
            self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results", {"number": 0})))
            measured = self.query("results", "--parallel", 2)
        finally:
            ends.set()
            writer.join()
        seen = 0
        for each in measured:
            self.assertEqual(2, each["ranges"])
            for one in each["result"]:
                self.assertEqual(one["last"] + 1, one["n"])
                seen += 1
        self.assertGreater(seen, len(measured) // 2)
