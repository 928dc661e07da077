"""Where a load puts the documents of a sharded cluster: each shard is asked what lies there.
needs: none; nightly: the shares of 2, 4 and 8 shards, with small caches"""
import collections
import functools
import gzip
import re
import subprocess

import live
import livetest
import minimongo as mongo
from livecluster import OwnCluster
from livetest import WINDOW

COUNT, LANES = 100000, 1024
SLIM = """\
format: slim
about: one column of the MOT files, so that the servers have less to do than their disks are large
record: {delimiter: "|", header: [test_id], encoding: latin1}
fields:
  - {name: testId, key: t, type: int, column: test_id}
"""


@functools.lru_cache
def generated(*words):
    return subprocess.run([live.TIPPLE, "generate", *map(str, words)], check=True, capture_output=True).stdout


@functools.lru_cache
def tests_of_cars():
    return generated("mot", "--rows", COUNT, "--seed", 3)


@functools.lru_cache
def packed():
    return gzip.compress(tests_of_cars(), 1)


def cut(text, shares):
    """The text in as many files as there are shares, each as large as its share and with the header."""
    begin = body = text.index(b"\n") + 1
    pieces, upto = [], 0
    for share in shares:
        upto += share
        end = text.index(b"\n", body + (len(text) - body) * upto // sum(shares) - 1) + 1
        pieces.append(text[:body] + text[begin:end])
        begin = end
    return pieces


def records_by_lane(texts):
    """How many records of these files, in this order, belong to each lane."""
    lanes, ordinal = [0] * LANES, 0
    for text in texts:
        for begin in range(0, len(text), WINDOW):
            lane = livetest.record_id_make(ordinal, begin, 0) >> 53
            # a record begins after a line end; at 0 there is the header
            lanes[lane] += text.count(b"\n", max(begin - 1, 0), min(begin + WINDOW, len(text)) - 1)
        ordinal += -(-len(text) // WINDOW)
    return lanes


def share(percent):
    """As tipple prints it."""
    return "%.*f" % (percent != round(percent), percent)


class Two(OwnCluster):
    """Each shard gets what the lanes say, which is an even share."""
    options = {"shards": 2, "replicas": 1, "routers": 2, "cache": "64M"}

    def lanes(self):
        """One chunk a shard, with as many lanes as any other. The shards in the order of their lanes."""
        chunks, step = self.chunks(), LANES // len(self.names()) << 53
        ends = [mongo.MinKey, *range(step, LANES << 53, step), mongo.MaxKey]
        self.assertEqual([(chunk["min"]["_id"], chunk["max"]["_id"]) for chunk in chunks], list(zip(ends, ends[1:])))
        self.assertEqual(sorted(chunk["shard"] for chunk in chunks), self.names())
        return [chunk["shard"] for chunk in chunks]

    def even(self, counts, texts):
        """Within 2 % of an even share, or one block (and a little: the last block of each file is not whole)."""
        self.assertEqual(counts["loaded"], COUNT)
        self.assertEqual(counts["unrouted"], 0)
        there = self.shares(counts)
        by_lane, lanes = records_by_lane(texts), LANES // len(there)
        self.assertEqual(there, {name: sum(by_lane[number * lanes:(number + 1) * lanes])
                                 for number, name in enumerate(self.lanes())})
        share, block = COUNT / len(there), COUNT * WINDOW / sum(map(len, texts))
        worst = max(abs(count - share) for count in there.values())
        self.assertLessEqual(worst, max(0.02 * share, 1.1 * block), there)
        self.clean()

    def load_slim(self, *words):
        self.write("slim.yaml", SLIM)
        return self.load("--format", "./slim.yaml", "-q", *words)

    def files(self, name, texts):
        names = [name % number for number in range(len(texts))]
        for file, text in zip(names, texts):
            self.write(file, text)
        return names

    def test_a_few_files(self):
        """From a few files: one goes on in the lanes where the last one ended."""
        texts = cut(tests_of_cars(), (5, 2, 4))
        self.even(self.load_slim(*self.files("%d.csv", texts)), texts)

    def test_one_gzip(self):
        """From one packed file."""
        self.write("a.csv.gz", packed())
        self.even(self.load_slim("a.csv.gz"), [tests_of_cars()])


class Eight(Two):
    options = {**Two.options, "shards": 8}

    def test_a_thousand_files(self):
        """From small files, one block each."""
        texts = cut(tests_of_cars(), [1] * 1000)
        self.files("many/%03d.csv", texts)
        self.even(self.load_slim("many"), texts)


class Four(Two):
    options = {**Two.options, "shards": 4}

    def test_direct(self):
        """The petabyte study's choice: one range of _ids and one chunk a shard, past the routers."""
        self.write("a.csv.gz", packed())
        self.even(self.load_slim("--direct", "a.csv.gz"), [tests_of_cars()])


# -------------------------------------------------------------------------------------------------------- keys

def station(record):
    """Ships have neither number."""
    usaf, wban = record[4:10], record[10:15]
    return "u" + usaf if usaf != "999999" else "w" + wban if wban != "99999" else None


KINDS = {type(mongo.MinKey): 0, type(None): 5, int: 10, mongo.Int64: 10, str: 15, mongo.Date: 45}


def rank(value):
    """Values in the order of a server, of the types that are keys here."""
    if value is mongo.MaxKey:
        return 127, 0
    kind = KINDS[type(value)]
    return kind, value.encode() if kind == 15 else value if kind in (10, 45) else 0


def ranks(values):
    return tuple(map(rank, values))


class Keys(OwnCluster):
    """The weather of 200 stations, and of some ships, whose documents lack a key."""
    options = {"shards": 4, "replicas": 1, "routers": 2, "cache": "64M"}

    def setUp(self):
        super().setUp()
        self.text = generated("isd", "--rows", 12000, "--stations", 200, "--seed", 7)
        self.write("a.isd", self.text)

    def on_shards(self, pipeline):
        found = {}
        for name in self.names():
            with self.shard_client(name) as shard:
                found[name] = list(shard.aggregate(self.database, "results", pipeline))
        return found

    def placed(self, key):
        """Each document lies where its key's chunk is, by the server's own hashes. Gives how many each shard has."""
        paths = [path.partition(":")[0] for path in key.split(",")]
        values = [{"$toHashedIndexKey": "$" + path} if path + ":hashed" in key else {"$ifNull": ["$" + path, None]}
                  for path in paths]
        found = self.on_shards([{"$group": {"_id": values, "n": {"$sum": 1}}}])
        chunks = self.chunks()
        self.assertEqual(sorted(chunk["shard"] for chunk in chunks), self.names())
        ranges = {chunk["shard"]: (ranks(chunk["min"].values()), ranks(chunk["max"].values())) for chunk in chunks}
        for name, groups in found.items():
            low, high = ranges[name]
            strays = [group["_id"] for group in groups if not low <= ranks(group["_id"]) < high]
            self.assertEqual(strays, [], (name, low, high))
        return {name: sum(group["n"] for group in groups) for name, groups in found.items()}

    def profile(self, level):
        for name in self.names():
            with self.shard_client(name) as shard:
                if level:  # with room for all of it: an entry holds a good part of its command
                    shard.command(self.database, {"create": "system.profile", "capped": True, "size": 64 << 20})
                shard.command(self.database, {"profile": level})

    def inserts(self):
        """How many insert commands each shard has got."""
        wanted, found = {"op": "insert", "ns": self.database + ".results"}, {}
        for name in self.names():
            with self.shard_client(name) as shard:
                found[name] = shard.count(self.database, "system.profile", wanted)
        return found

    def by_key(self, key):
        self.profile(2)
        self.addCleanup(self.profile, 0)
        counts = self.load("--format", "isd", "--shard-key", key, "-b", "200", "a.isd")
        there = self.shares(counts)
        self.assertEqual(self.placed(key), there)
        self.assertEqual(sum(there.values()), 12000)
        self.assertEqual((counts["unrouted"], counts["retries"]), (0, 0))
        shown = {shard["name"]: shard["batches"] for shard in counts["shards"]}
        self.assertEqual(self.inserts(), shown)  # a batch with documents of two shards would be an insert on each
        self.assertEqual(sum(shown.values()), counts["batches"])
        self.clean()
        return there

    def test_stations(self):
        """The weather study's choice: each station lies on the one shard that its hash says."""
        words = self.words("--format", "isd", "--shard-key", "st:hashed", "a.isd", json_wanted=False)
        done = self.tipple(*words, "-v")
        there = self.placed("st:hashed")
        found = self.on_shards([{"$group": {"_id": "$st", "n": {"$sum": 1}}}])
        stations = collections.Counter(map(station, self.text.decode("latin-1").splitlines()))
        self.assertGreaterEqual(len(stations), 200)
        self.assertEqual(sum(map(len, found.values())), len(stations))  # none is on two shards
        self.assertEqual({group["_id"]: group["n"] for groups in found.values() for group in groups}, stations)
        shown = re.findall(r"^(s\d) +([\d,]+) +([\d.]+) ", done.stdout.decode(), re.M)
        self.assertEqual(shown, [(name, "{:,}".format(count), share(count / 120)) for name, count in there.items()])
        short = self.tipple(*words, "--drop", "--yes").stdout.decode().splitlines()
        placed = self.placed("st:hashed")
        self.assertEqual(["", "By shard"], short[3:5])
        self.assertEqual([[name, "{:,}".format(count), share(count / 120)] for name, count in placed.items()],
                         [line.split()[:3] for line in short[6:]])
        self.clean()

    def test_hashed_first(self):
        """A hash and then ranges: cut as a hash alone is."""
        self.by_key("st:hashed,ts")

    def test_hashed_second(self):
        """A range and then a hash: cut by records that were looked at."""
        self.by_key("type,st:hashed")

    def test_hashed_in_the_middle(self):
        """A range, a hash, a range."""
        self.by_key("type,st:hashed,ts")


if __name__ == "__main__":
    livetest.main()
