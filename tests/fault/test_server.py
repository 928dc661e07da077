"""Servers that die, come back or elect another primary in the middle of a load.  needs: none"""
import contextlib
import gzip
import os
import signal
import subprocess
import threading

import faultlab
import livetest
import minimongo as mongo
import relay
from livetest import Books, rows

TEXT = rows(12000, 1, bad={77, 9000})
TEXTS = {"a.csv": TEXT, "b.gz": rows(4000, 2), "s": rows(4000, 3)}
PACKED, STREAM = gzip.compress(TEXTS["b.gz"], 1), TEXTS["s"]
INPUTS = ("a.csv", "b.gz", "-", "--input-name", "s", "-b", "100", "-j", "4")
READ, LOADED = 20000, 19998


class Broken(faultlab.OwnLab):
    """A load that is held in its middle: half of its stream has come, the rest comes when we say so."""

    def setUp(self):
        super().setUp()
        self.write("a.csv", TEXT)
        self.write("b.gz", PACKED)

    def half(self, *words):
        load = self.start(*INPUTS, *words, stdin=subprocess.PIPE)
        load.stdin.write(STREAM[:len(STREAM) // 2])
        load.stdin.flush()
        return load

    def met(self, moment, load):
        """The moment has come."""
        self.assertTrue(livetest.wait_for(lambda: moment.over or load.poll() is not None))
        self.assertTrue(moment.over, "it ended too early")

    def rest(self, load, *status, had=STREAM[len(STREAM) // 2:]):
        """Lets it end with one of these statuses; its status, counts and words."""
        counts, said = self.over(load, status, had)
        return livetest.ending(load.returncode), counts, said

    def held(self, *words):
        """The load `the_load`, held as soon as the books call something done."""
        # more than four threads have under way in four blocks, and less than is sent before the rest of the stream
        moment = faultlab.HeldMoment(self.draw.randint(14200, 15500))
        self.relayed(moment)
        self.the_load = self.half(*words)
        self.met(moment, self.the_load)
        self.assertTrue(livetest.wait_for(lambda: self.done_is_there(TEXTS) > 0), "nothing is ever done")
        return moment

    def completed(self, did):
        """The same command once more."""
        self.unrelayed()
        blocks = self.done_is_there(TEXTS)
        self.load(*INPUTS, stdin=STREAM, status=(0, 2))
        self.verified(TEXTS, INPUTS, "%s; %d blocks were done by then" % (did, blocks), stdin=STREAM)

    def again(self):
        self.client.drop_database(self.database)
        for kept in self.folder.glob("*.rejects"):
            kept.unlink()


class NextForBooks(faultlab.Moment):
    """The first message for the books after that many documents: it waits."""

    def is_now(self, message):
        return self.seen >= self.documents and message.books and not message.reply


class Standalone(Broken):
    def kill(self):
        """The server is gone before this reply arrives."""
        os.kill(self.state["members"][0]["pid"], signal.SIGKILL)
        return relay.CUT

    def back(self):
        self.down()
        self.up()
        self.reconnect()

    def trial(self, moment):
        self.again()
        self.relayed(moment)
        load = self.half()
        self.met(moment, load)
        self.back()
        status, _, said = self.rest(load, 2, 4)
        if status == 4:
            self.assertIn("the same command", said)
        self.completed("the standalone was killed after %d of %d documents; the load ended with %d" % (
            moment.documents, LOADED, status))

    def test_killed(self):
        """a standalone killed in the middle and started again: what it lost is sent again, by the same command"""
        for _ in range(3 if livetest.NIGHTLY else 1):
            self.trial(faultlab.Moment(self.draw.randint(1, LOADED // 2), self.kill))

    def test_killed_at_the_books(self):
        """a standalone killed while a load writes its books"""
        self.trial(faultlab.BooksMoment(self.draw.randint(LOADED // 4, LOADED // 2), self.kill,
                                        self.draw.random() < 0.5))

    def test_killed_when_blocks_are_done(self):
        """a standalone killed as soon as the books call blocks done: none of them misses a record"""
        moment = self.held()
        self.kill()
        moment.gate.set()
        self.back()
        self.assertGreater(self.done_is_there(TEXTS), 0)
        status, _, _ = self.rest(self.the_load, 2, 4)
        self.completed("the standalone was killed when blocks were done; the load ended with %d" % status)

    def test_gone_while_the_input_waits(self):
        """a standalone that stays away while the load waits for a pipe: status 4 after the patience, not with the pipe"""
        moment = faultlab.Moment(self.draw.randint(1, LOADED // 2), self.kill)
        self.relayed(moment)
        load = self.half("--patience", "1s")
        self.met(moment, load)
        self.assertTrue(livetest.wait_for(lambda: load.poll() is not None), "it waits for its input")
        _, _, said = self.rest(load, 4, had=b"")
        self.assertIn("the same command", said)
        self.back()
        self.completed("the standalone was gone while the load waited for its input")

    def test_killed_when_a_fixed_record_was_loaded(self):
        """a standalone killed between the insert of a fixed record and the end of its load: not success, and the same
        command loads it"""
        whole, text = (rows(300, 4, bad=bad) for bad in ((), {7}))
        self.write("c.csv", text)
        self.load("c.csv", "--rejects", "bad", status=2)
        cut, record = (each.split(b"\n")[8] for each in (text, whole))
        self.write("fixed", (self.folder / "bad").read_bytes().replace(b"\n" + cut + b"\n", b"\n" + record + b"\n"))
        gate = threading.Event()
        moment = NextForBooks(1, lambda: gate)
        self.relayed(moment)
        load = self.start("--retry", "fixed")
        self.met(moment, load)
        self.kill()
        self.back()
        gate.set()
        _, said = self.over(load, (4,))
        self.assertIn("the same command", said)
        self.unrelayed()
        self.load("--retry", "fixed")
        self.assertEqual(300, self.client.count(self.database, "results"))


class ReplicaSet(Broken):
    options = {"replset": 3}

    def primary(self):
        known = []
        self.assertTrue(livetest.wait_for(lambda: known.append(
            self.client.command("admin", {"hello": 1}).get("primary")) or known[-1]))
        address = known[-1]
        return next(member for member in self.state["members"] if address.endswith(":%d" % member["port"]))

    @staticmethod
    def is_primary(member):
        """None while it cannot say, such as in the middle of a change."""
        with contextlib.suppress(mongo.Error, OSError), \
                mongo.Client("mongodb://127.0.0.1:%d/?directConnection=true" % member["port"]) as one:
            return one.command("admin", {"hello": 1})["isWritablePrimary"]

    def up_again(self):
        """The members that were killed."""
        self.down()
        self.up()
        self.reconnect()

    def step_down(self):
        """Another member becomes the primary; our own client follows."""
        before = self.primary()
        for last in (False, False, True):
            try:
                self.client.command("admin", {"replSetStepDown": 180, "secondaryCatchUpPeriodSecs": 120})
                break
            except mongo.CommandError:  # no other one has caught up by then
                if last:
                    raise
            except (mongo.Error, OSError):
                break  # older servers close the connection
        self.reconnect()
        self.assertNotEqual(before, self.primary())

    def all_loaded(self, counts):
        self.assertEqual((READ, LOADED, 2), (counts["read"], counts["loaded"] + counts["already_there"],
                                             counts["rejected"]))

    def test_1_step_down(self):
        """the primary steps down in the middle, twice: the load waits, and everything is there at its end"""
        moment = faultlab.Moment(self.draw.randint(1, LOADED // 2), lambda: relay.PASS)
        self.relayed(moment)
        load = self.half("--patience", "3m")
        self.met(moment, load)
        self.step_down()
        load.stdin.write(STREAM[len(STREAM) // 2:len(STREAM) // 2 + 200000])
        load.stdin.flush()
        self.client.command("admin", {"replSetStepDown": 1, "force": True})
        self.reconnect()
        _, counts, _ = self.rest(load, 2, had=STREAM[len(STREAM) // 2 + 200000:])
        self.all_loaded(counts)
        self.completed("the primary stepped down twice")

    def test_2_blocked_writes(self):
        """a server that blocks the writes of users: status 4 and whose doing it is; then the same command"""
        self.load("a.csv", "--limit", 10)
        self.client.command("admin", {"setUserWriteBlockMode": 1, "global": True})
        try:
            def trial(patience):
                self.load("a.csv", "--patience", patience, status=4)
                self.assertIn("setUserWriteBlockMode", self.stderr)
            self.patiently(trial)
        finally:
            self.client.command("admin", {"setUserWriteBlockMode": 1, "global": False})
        self.load("a.csv", status=2)
        self.holds(Books().plain("a.csv", TEXT))
        self.verified({"a.csv": TEXT}, ["a.csv"], "an administrator blocked all writes for a while")

    def test_3_killed(self):
        """the primary is killed in the middle: the others elect, and nothing that was acknowledged is missing"""
        victim, acknowledged = self.primary(), set()

        def kill():
            os.kill(victim["pid"], signal.SIGKILL)
            return relay.CUT
        moment = faultlab.Moment(self.draw.randint(1, LOADED // 2), kill)

        def rule(message):
            verdict = moment(message)
            if verdict == relay.PASS and faultlab.is_acknowledgement(message) and not moment.over and \
                    message.inserted == message.question.inserted:
                acknowledged.update(faultlab.id_of(raw) for raw in message.question.documents())
            return verdict
        self.relayed(rule)
        load = self.half("--patience", "3m")
        self.met(moment, load)
        self.reconnect()
        self.primary()
        lost = acknowledged - set(self.there())
        self.assertFalse(lost, "%d of %d acknowledged documents are lost" % (len(lost), len(acknowledged)))
        _, counts, _ = self.rest(load, 2)
        self.all_loaded(counts)
        self.completed("the primary was killed when it had acknowledged %d of %d documents" % (
            len(acknowledged), LOADED))
        self.up_again()

    @livetest.nightly
    def test_4_killed_when_blocks_are_done(self):
        """the primary is killed as soon as the books call blocks done: none of them misses a record"""
        moment = self.held("--patience", "3m")
        os.kill(self.primary()["pid"], signal.SIGKILL)
        moment.gate.set()
        self.reconnect()
        blocks = self.done_is_there(TEXTS)
        self.assertGreater(blocks, 0)
        _, counts, _ = self.rest(self.the_load, 2)
        self.all_loaded(counts)
        self.completed("the primary was killed when %d blocks were done" % blocks)
        self.up_again()

    @livetest.nightly
    def test_5_frozen(self):
        """the primary freezes for so long that another one is elected, and wakes up again in the middle"""
        victim = self.primary()
        moment = faultlab.Moment(self.draw.randint(1, LOADED // 2), lambda: os.kill(victim["pid"], signal.SIGSTOP))
        self.relayed(moment)
        self.addCleanup(os.kill, victim["pid"], signal.SIGCONT)
        load = self.half("--patience", "40s")
        self.met(moment, load)
        self.assertTrue(livetest.wait_for(lambda: any(self.is_primary(member) for member in self.state["members"]
                                                      if member is not victim), 300), "nobody was elected")
        self.assertTrue(livetest.wait_for(lambda: moment.seen > moment.documents + 1000), "the load did not go on")
        os.kill(victim["pid"], signal.SIGCONT)
        # awake, it takes itself for the primary for a moment, and then closes its connections
        self.assertTrue(livetest.wait_for(lambda: self.is_primary(victim) is False), "there are two primaries")
        self.reconnect()
        _, counts, _ = self.rest(load, 2)
        self.all_loaded(counts)
        self.completed("the primary froze, another one was elected, and it woke up again")

    @livetest.nightly
    def test_6_no_majority(self):
        """two of three are gone: status 4 after the patience; back again, the same command goes on"""
        primary = self.primary()

        def kill():
            for member in self.state["members"]:
                if member is not primary:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(member["pid"], signal.SIGKILL)
        moment = faultlab.Moment(self.draw.randint(1, LOADED // 2), kill)
        self.relayed(moment)
        load = self.half("--patience", "2s")
        self.met(moment, load)
        self.rest(load, 4)
        self.up_again()
        self.completed("two of three members were gone for longer than the patience")


if __name__ == "__main__":
    livetest.main()
