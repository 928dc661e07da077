"""Members of a sharded cluster that die in the middle of a load: routers, shards, the config server.  needs: none"""
import contextlib
import gzip
import signal
import subprocess

import clusters
import faultlab
import livecluster
import livetest
import mongods
import relay
from livetest import rows

TEXTS = {"a.csv": rows(12000, 8, bad={70}), "b.gz": rows(4000, 9)}
FILES = {"a.csv": TEXTS["a.csv"], "b.gz": gzip.compress(TEXTS["b.gz"], 1)}
READ, LOADED = 16000, 15999
WORDS = (*FILES, "-b", "100")


class ClusterLab(faultlab.Mixin, livecluster.OwnCluster):
    options = {"shards": 2, "replicas": 1, "routers": 2}

    def setUp(self):
        super().setUp()
        for name, content in FILES.items():
            self.write(name, content)

    def ports(self):
        return [member["port"] for member in self.state["members"] if member["role"] in ("router", "shard")]

    def tearDown(self):
        for member in self.state["members"]:
            with contextlib.suppress(mongods.Error):  # it runs
                clusters.start_members(self.home, [member["name"]], tied=True)
        self.reconnect()

    def kill(self, *names):
        clusters.send(self.home, list(names), signal.SIGKILL)

    def begin(self, act, *words):
        """A load of which act() meets the middle."""
        moment = faultlab.HeldMoment(self.draw.randint(1, LOADED // 2), act)
        self.relayed(moment)
        load = self.start(*WORDS, *words)
        self.assertTrue(livetest.wait_for(lambda: moment.over or load.poll() is not None))
        self.assertTrue(moment.over, "it ended too early")
        self.moment = moment
        return load

    def complete(self, load, did, *words):
        """It ends as if nothing had been, and everything is there."""
        self.moment.gate.set()
        counts, _ = self.over(load, (2,))
        self.assertEqual((READ, 1), (counts["read"], counts["rejected"]))
        self.whole(did, *words)

    def whole(self, did, *words):
        self.unrelayed()
        self.reconnect()
        self.verified(TEXTS, (*WORDS, *words), "%s, after %d documents" % (did, self.moment.documents))
        lying = [self.counted(name) for name in self.names()]
        self.assertEqual(LOADED, sum(lying), "a document is on two shards")
        self.assertTrue(all(lying))
        self.clean()

    def counted(self, name):
        with self.shard_client(name) as shard:
            return shard.count(self.database, "results")


class Members(ClusterLab):
    def test_a_router(self):
        """kill -9 of one of two routers, which comes back later"""
        load = self.begin(lambda: self.kill("r1"))
        self.moment.gate.set()
        self.assertTrue(livetest.wait_for(lambda: self.moment.seen > self.moment.documents + 1000))
        clusters.start_members(self.home, ["r1"], tied=True)
        self.complete(load, "one of two routers was killed")

    @livetest.nightly
    def test_all_routers(self):
        """kill -9 of both routers, which come back within the patience"""
        load = self.begin(lambda: self.kill("r0", "r1"), "--patience", "3m")
        clusters.start_members(self.home, ["r0", "r1"], tied=True)
        self.complete(load, "both routers were killed and came back")

    @livetest.nightly
    def test_one_of_two_routers_that_breaks_off_at_first(self):
        """the other one is away, and the connection to this one breaks at its first command: it is no standalone"""
        self.kill("r1")
        met = []

        def rule(message):
            if met or message.command != "buildInfo":
                return relay.PASS
            met.append(message)
            return relay.CUT
        self.relayed(rule)
        self.moment = faultlab.Moment(0, None)
        self.assertEqual(READ, self.load(*WORDS, "--patience", "3m", status=2)["read"])
        self.assertTrue(met)
        clusters.start_members(self.home, ["r1"], tied=True)
        self.whole("a router broke off at its first command")

    def test_a_shard(self):
        """kill -9 of a shard, which comes back within the patience"""
        load = self.begin(lambda: self.kill("s1"), "--patience", "3m")
        self.moment.gate.set()
        clusters.start_members(self.home, ["s1"], tied=True)
        self.complete(load, "a shard was killed and came back")

    @livetest.nightly
    def test_a_shard_that_stays_away(self):
        """kill -9 of a shard, which does not come back within the patience: status 4; the same command goes on"""
        for words in (), ("--direct",):
            self.client.drop_database(self.database)
            for kept in self.folder.glob("*.rejects"):
                kept.unlink()
            load = self.begin(lambda: self.kill("s1"), "--patience", "3s", *words)
            self.moment.gate.set()
            _, said = self.over(load, (4,))
            self.assertIn("--patience", said)
            clusters.start_members(self.home, ["s1"], tied=True)
            self.unrelayed()
            self.reconnect()
            blocks = self.done_is_there(TEXTS)
            self.load(*WORDS, *words, status=(0, 2))
            self.whole("a shard stayed away for longer than the patience; %d blocks were done by then" % blocks, *words)

    def test_the_config_server(self):
        """kill -9 of the config server, which comes back within the patience"""
        load = self.begin(lambda: self.kill("c0"), "--patience", "3m")
        self.moment.gate.set()
        self.assertTrue(livetest.wait_for(lambda: self.moment.seen > self.moment.documents + 1000))
        clusters.start_members(self.home, ["c0"], tied=True)
        self.complete(load, "the config server was killed and came back")

    def test_direct_and_a_shard(self):
        """--direct: kill -9 of a shard, which comes back within the patience"""
        load = self.begin(lambda: self.kill("s1"), "--direct", "--patience", "3m")
        self.moment.gate.set()
        clusters.start_members(self.home, ["s1"], tied=True)
        self.complete(load, "a shard was killed and came back, --direct", "--direct")

    def test_faults_of_a_router(self):
        """replies are lost after the write, cut in two and late, and the router answers that it has no primary"""
        routers = [member for member in self.state["members"] if member["role"] == "router"]
        if any(member["program"] != "labrouter" for member in routers):
            self.skipTest("a mongos cannot be ordered to misbehave")
        asked = [(what, command, router) for what in ("drop", "lose-reply", "cut", "delay-reply", "not-primary")
                 for command in ("insert", "update", "findAndModify") for router in routers]
        for what, command, router in asked:
            more = {"count": 2, "after": self.draw.randint(0, 40), "every": 20} if command == "insert" else \
                {"count": 1, "after": self.draw.randint(0, 2)}
            with clusters.client(self.state, [router]) as client:
                client.command("admin", {"labrouter": 1, "fault": {"do": what, "command": command, "ms": 300, **more}})
        self.moment = faultlab.Moment(0, None)
        counts = self.load(*WORDS, "--patience", "3m", status=2)
        self.assertEqual((READ, 1), (counts["read"], counts["rejected"]))
        met = 0
        for router in routers:
            with clusters.client(self.state, [router]) as client:
                met += sum(fault["done"] for fault in client.command("admin", {"labrouter": 1})["faults"])
                client.command("admin", {"labrouter": 1, "clear": True})
        self.assertGreater(met, 10)
        self.whole("routers lost, cut and delayed %d messages" % met)


@livetest.nightly
class Elected(ClusterLab):
    """Shards of three members, with logins and TLS, which no relay can see into: a moment is a count of documents."""
    options = {"shards": 2, "replicas": 3, "routers": 2, "auth": True, "tls": True}

    def test_an_election(self):
        """kill -9 of the primary of a shard of three: another one goes on; through the routers and --direct"""
        for words in ((), ("--direct",)):
            self.client.drop_database(self.database)
            self.elected(*words)

    def elected(self, *words):
        """The load is held by its stream, of which half has come."""
        text, stream = rows(8000, 10), ("-", "--input-name", "s")
        self.moment = faultlab.Moment(self.draw.randint(1, LOADED // 4), None)
        load = self.start(*WORDS, *stream, "--patience", "3m", *words, stdin=subprocess.PIPE)
        load.stdin.write(text[:len(text) // 2])
        load.stdin.flush()
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > self.moment.documents))
        found = []

        def has_primary():
            with contextlib.suppress(mongods.Error):  # it elects
                found.extend(clusters.select(clusters.state_of(self.home), ["s0.primary"]))  # one has come back
            return found
        self.assertTrue(livetest.wait_for(has_primary))
        primary = found[0]["name"]
        self.kill(primary)
        counts, _ = self.over(load, (2,), text[len(text) // 2:])
        self.assertEqual((READ + 8000, 1), (counts["read"], counts["rejected"]))
        self.reconnect()
        self.verified({**TEXTS, "s": text}, (*WORDS, *stream, *words), "the primary of a shard was killed%s" % (
            ", --direct" if words else ""), stdin=text)
        self.clean()
        for kept in self.folder.glob("*.rejects"):
            kept.unlink()
        clusters.start_members(self.home, [primary], tied=True)


if __name__ == "__main__":
    livetest.main()
