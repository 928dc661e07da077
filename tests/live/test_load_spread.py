"""Where a load puts the documents of a sharded cluster: each shard is asked what lies there.  needs: none"""
import functools
import gzip
import subprocess

import live
import livetest
import minimongo as mongo
from livecluster import Cluster
from livetest import WINDOW

COUNT, LANES = 1000000, 1024
SLIM = """\
format: slim
about: one column of the MOT files, so that the servers have less to do than their disks are large
record: {columns: "|", header: [test_id], encoding: latin1}
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
    lanes = [0] * LANES
    for ordinal, text in enumerate(texts):
        for begin in range(0, len(text), WINDOW):
            lane = livetest.position_id(ordinal, begin, 0) >> 53
            # a record begins behind a line end; at 0 there is the header
            lanes[lane] += text.count(b"\n", max(begin - 1, 0), min(begin + WINDOW, len(text)) - 1)
    return lanes


class Two(Cluster):
    """A million records: each shard gets what the lanes say, which is an even share."""
    options = {"shards": 2, "replicas": 1, "routers": 2, "cache": "64M"}

    def lanes(self):
        """One chunk a shard, with as many lanes as any other. The shards in the order of their lanes."""
        chunks, step = self.chunks(), LANES // len(self.names()) << 53
        ends = [mongo.MinKey, *range(step, LANES << 53, step), mongo.MaxKey]
        self.assertEqual([(chunk["min"]["_id"], chunk["max"]["_id"]) for chunk in chunks], list(zip(ends, ends[1:])))
        self.assertEqual(sorted(chunk["shard"] for chunk in chunks), self.names())
        return [chunk["shard"] for chunk in chunks]

    def even(self, counts, texts, blocks=1):
        """Within 2 % of an even share, or so many blocks."""
        self.assertEqual(counts["loaded"], COUNT)
        self.assertEqual(counts["unrouted"], 0)
        there = self.shares(counts)
        by_lane, lanes = records_by_lane(texts), LANES // len(there)
        self.assertEqual(there, {name: sum(by_lane[number * lanes:(number + 1) * lanes])
                                 for number, name in enumerate(self.lanes())})
        share, block = COUNT / len(there), COUNT * WINDOW / sum(map(len, texts))
        worst = max(abs(count - share) for count in there.values())
        self.assertLessEqual(worst, max(0.02 * share, blocks * block), there)
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
        """From a few files: each may leave some shards a block ahead of the others."""
        texts = cut(tests_of_cars(), (5, 2, 4))
        self.even(self.load_slim(*self.files("%d.csv", texts)), texts, blocks=len(texts))

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


if __name__ == "__main__":
    livetest.main(quick=())
