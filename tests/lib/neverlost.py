"""neverlost: what a user can rely on, looked at from outside: commands, exit statuses, the JSON that they print, and
the documents of the collection, which are compared with an independent reading of the input. Nothing here knows how
the catalog is laid out, or which _id a record gets.

    class Small(neverlost.Case):
        def test_killed(self):
            texts = self.inputs({"a.csv": rows(3000)})
            self.interrupted(1000, *texts)
            self.finished(texts)

A class has its kind of server and its shard key; TIPPLE_LAB_KIND (standalone, replset, cluster) and TIPPLE_LAB_KEY
(_id, k:hashed) choose others. TIPPLE_LAB_LEASE: the seconds of a lease (6): more
where a host is so busy that a process does not get a turn for that long. TIPPLE_HANG: seconds in which what must not
wait has ended, on a busy host, too.
"""
import collections
import gzip
import json
import os
import queue
import signal
import subprocess

import faultlab
import live
import livetest
import minimongo as mongo
import relay

HANG = float(os.environ.get("TIPPLE_HANG") or 180)
LEASE = float(os.environ.get("TIPPLE_LAB_LEASE") or 6)  # that are wanted


def shorten_lease(uri, seconds):
    """Lets loads of this collection, of which there was none yet, take one that falls silent for dead after that many
    seconds. Returns them."""
    path = uri.split("?")[0].rsplit("/", 1)
    database, collection = path[1].split(".", 1)
    client = mongo.Client(path[0])
    header = {"_id": "catalog", "key": "catalog", "layout": 3, "laneRule": 1, "generation": mongo.Int64(1),
              "nextExtent": mongo.Int64(0), "nextOrdinal": mongo.Int64(0),
              "leaseMs": mongo.Int64(int(seconds * 1000))}
    client.command(database, {"createIndexes": collection + ".tipple.files", "indexes": [
        {"key": {"key": 1}, "name": "key", "unique": True}]})
    client.command(database, {"insert": collection + ".tipple.files", "documents": [header]})
    client.close()
    return seconds


def damaged(text, true, *false):
    """A gzip of stored text, and the same with records changed in its middle, which only its checksum shows."""
    packed = wrong = gzip.compress(text, 0, mtime=0)
    at = len(packed) // 2
    for other in false:
        at = packed.index(true, at) + len(true)
        wrong = wrong[:at - len(true)] + other + wrong[at:]
    return packed, wrong


class Case(faultlab.Mixin, livetest.Case):
    """server, key: of the ordinary run. needs: the kind and the key, where there is no choice."""
    server, key = "standalone", "_id"
    needs = (None, None)

    @classmethod
    def setUpClass(cls):
        given = os.environ.get("TIPPLE_LAB_KIND") or live.SERVER, os.environ.get("TIPPLE_LAB_KEY")
        cls.server, cls.key = (need or word or usual for need, word, usual in zip(cls.needs, given, (cls.server, cls.key)))
        if cls.server != "cluster":
            cls.key = "_id"
        print("        seed %d: %s, %s, %s" % (faultlab.SEED, cls.__name__, cls.server, cls.key), flush=True)
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.begin_anew()

    def begin_anew(self):
        """Nothing was ever loaded."""
        self.client.drop_database(self.database)
        self.lease = shorten_lease(self.uri(), LEASE)

    def ports(self):
        return [member["port"] for member in self.state["members"]
                if self.server != "cluster" or member["role"] == "router"]

    def words(self, *words, **more):
        keyed = ("--shard-key", self.key) if self.key != "_id" else ()
        return super().words(*keyed, *words, **more)

    def inputs(self, texts):
        """Writes them, those called .gz compressed; returns them."""
        for name, text in texts.items():
            self.write(name, gzip.compress(text, 1, mtime=0) if name.endswith(".gz") else text)
        return texts

    # ------------------------------------------------------------------------------------------------ loads

    def is_data(self, message):
        return message.command == "insert" and message.collection == "results"

    def ended(self, load, status=(0,), stdin=None):
        """Waits for a load that was started; its exit status is one of these. What it printed (or None), and said."""
        return self.over(load, status, stdin)

    def ends_by_itself(self, load):
        """For a load that must not wait for others: one that does fails the test."""
        try:
            load.wait(HANG)
        except subprocess.TimeoutExpired:
            self.fail("it has waited for %g seconds for someone who has nothing to do with it" % HANG)
        return self.ended(load)

    def there(self, collection="results"):
        return self.client.count(self.database, collection)

    def wait_for_documents(self, count, *loads):
        """Until that many are there, while these loads run."""
        self.assertTrue(livetest.wait_for(lambda: self.there() >= count or
                                          any(load.poll() is not None for load in loads)))
        self.assertGreaterEqual(self.there(), count, "a load ended too early: %s" % [
            load.communicate() for load in loads if load.poll() is not None])

    def interrupted(self, documents, *words, number=signal.SIGKILL, status=(0,)):
        """A load that gets a signal when that many of its documents were acknowledged: before it knows of the last."""
        seen = [0]

        def is_now(message):
            seen[0] += message.inserted if message.reply and self.is_data(message) else 0
            return message.reply and self.is_data(message) and seen[0] >= documents
        return self.signalled(is_now, *words, number=number, status=status)

    def interrupted_at_message(self, count, *words, status=(0,)):
        """A load that is killed when that many messages have come by, of any kind."""
        left = [count]

        def is_now(message):
            left[0] -= message.command != "hello"
            return left[0] == 0
        return self.signalled(is_now, *words, status=status)

    def signalled(self, is_now, *words, number=signal.SIGKILL, status=(0,)):
        """True: it was; false: it had ended before."""
        pids, met = queue.SimpleQueue(), []

        def rule(message):
            if met or not is_now(message):
                return relay.PASS
            met.append(pids.get())
            os.kill(met[0], number)
            return relay.CUT if number == signal.SIGKILL else relay.PASS
        self.relayed(rule)
        load = self.start(*words)
        pids.put(load.pid)
        self.ended(load, (*status, 128 + number))
        self.unrelayed()
        return bool(met)

    # ------------------------------------------------------------------------------------------------ proof

    def exact(self, texts, said="", collection="results"):
        """The collection holds the documents of these texts, each as often as its record is there, and nothing else."""
        wanted = collections.Counter(body for text in texts.values() for *_, body in faultlab.bodies(text)
                                     if body is not None)
        found = collections.Counter()
        for raw in self.client.find(self.database, collection, raw=True):
            self.assertEqual(b"\x12_id\0", raw[4:9])
            found[raw[17:-1]] += 1
        missing, more = wanted - found, found - wanted
        if missing or more:
            twice = sum(count for body, count in more.items() if body in wanted)
            self.fail("%s%d documents instead of %d: %d are missing, %d are there once more, %d are of no record %r" % (
                said and said + ": ", sum(found.values()), sum(wanted.values()), sum(missing.values()), twice,
                sum(more.values()) - twice, [body for body in more if body not in wanted][:1]))

    def verified(self, *words, count, **stdin):
        """The loader's own proof."""
        done = self.tipple("verify", "--format", "mot", "--uri", self.uri(), "--json", *words, status=None, **stdin)
        self.assertEqual(0, done.returncode, "tipple verify: %s\n%s" % (done.stdout[-1500:], done.stderr[-1500:]))
        self.assertEqual(count, json.loads(done.stdout)["as_expected"])

    def complete(self, texts, *words):
        """All is there, tipple says so, too, and the same command finds nothing to do."""
        words = words or list(texts)
        self.exact(texts)
        self.verified(*words, count=sum(len(faultlab.bodies(text)) for text in texts.values()))
        self.assertEqual(0, self.load(*words)["read"], "the same command once more")
        self.exact(texts)

    def finished(self, texts, *words):
        """The same command, to its end."""
        said = self.load(*(words or list(texts)))
        self.complete(texts, *words)
        return said

    def said(self, text):
        print("        seed %d, %s, %s: %s" % (faultlab.SEED, self.server, self.key, text), flush=True)


def main():
    livetest.main()
