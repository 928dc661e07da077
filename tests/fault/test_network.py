"""Connections that are cut, that stop in the middle of a message, or that are slow: a relay stands before the server,
which is a replica set with users, and nightly a standalone, too.  needs: none"""
import gzip
import threading

import faultlab
import livetest
import relay
from livetest import rows

TEXTS = {"a.csv": rows(6000, 1, bad={77, 5999}), "b.gz": rows(2000, 2)}
FILES = {"a.csv": TEXTS["a.csv"], "b.gz": gzip.compress(TEXTS["b.gz"], 1)}
WORDS = (*FILES, "-b", "100", "-j", "4")
READ, DOCUMENTS = 8000, 7998


class Network:
    """With each kind of server."""

    def setUp(self):
        super().setUp()
        for name, content in FILES.items():
            self.write(name, content)

    def through(self, rule, *words, status=(0, 2)):
        self.relayed(rule)
        counts, said = self.over(self.start(*WORDS, *words), status)
        self.unrelayed()
        return counts, said

    def chosen(self, share, verdicts, choose=lambda message: True):
        """A rule: this share of the messages (of those that count) meets one of the verdicts; and how often it did."""
        met = []

        def rule(message):
            if choose(message) and self.draw.random() < share:
                met.append(self.draw.choice(verdicts))
                return met[-1]
            return relay.PASS
        return rule, met

    def test_cut(self):
        """connections are cut all the time, at any message: questions that never arrive, replies that never do"""
        rule, met = self.chosen(0.03, (relay.CUT, relay.HALF_CUT), lambda message: message.command != "hello")
        counts, _ = self.through(rule, "--patience", "3m")
        self.assertEqual((READ, 2), (counts["read"], counts["rejected"]))
        self.assertGreater(len(met), 2)
        self.verified(TEXTS, WORDS, "connections were cut at %d messages" % len(met))

    def test_lost_replies(self):
        """a reply is lost after the write, again and again: what was sent twice is there once"""
        lost = []

        def rule(message):
            if faultlab.is_acknowledgement(message) and self.draw.random() < 0.1:
                lost.append(message.inserted)
                return relay.CUT
            return relay.PASS
        counts, _ = self.through(rule)
        self.assertEqual((READ, 2, DOCUMENTS), (counts["read"], counts["rejected"], counts["loaded"]))
        self.assertGreater(len(lost), 2)
        self.assertGreaterEqual(counts["retries"], len(lost))
        self.verified(TEXTS, WORDS, "%d replies were lost after the write, of %d documents" % (len(lost), sum(lost)))

    def test_halved(self):
        """half of a message comes, and the rest never does: of questions and replies, of data and of books"""
        for reply in (False, True):
            for books in (False, True):
                # half of the patience goes by until it asks again; on a busy host the other half may be too short
                if not self.halved(reply, books, "6s", (0, 2, 4)):
                    self.halved(reply, books, "2m", (0, 2))
        self.verified(TEXTS, WORDS, "half of a message came, in 4 loads")

    def halved(self, reply, books, patience, status):
        """False: it gave up."""
        self.client.drop_database(self.database)
        for kept in self.folder.glob("*.rejects"):
            kept.unlink()
        left = [self.draw.randint(1, 4 if books else 20)]

        def rule(message):
            if message.command == "hello" or message.reply != reply or message.books != books or not message.collection:
                return relay.PASS
            left[0] -= 1
            return relay.HALF if left[0] == 0 else relay.PASS
        counts, _ = self.through(rule, "--patience", patience, status=status)
        self.assertLess(left[0], 1)
        if not counts or counts["status"] == 4:
            return False
        self.assertEqual((READ, 2), (counts["read"], counts["rejected"]))
        return True

    @livetest.nightly
    def test_half_a_hello(self):
        """while it connects, half of what a server says of itself comes, when it has said hello before"""
        halved = []

        def rule(message):
            if message.command == "buildInfo" and not message.reply and not halved:
                halved.append(0)
                return relay.CUT  # now it looks closer at who is there
            if halved and len(halved) < 6 and message.command == "hello" and message.reply and message.place == 1:
                halved.append(1)
                return relay.HALF
            return relay.PASS
        self.through(rule, "--patience", "10s", status=(0, 2, 4))
        self.assertGreater(len(halved), 1)
        self.load(*WORDS, status=(0, 2))
        self.verified(TEXTS, WORDS, "half of %d hellos came" % (len(halved) - 1))

    def test_delayed(self):
        """slow and late messages, some of which arrive after the load has asked again"""
        rule, met = self.chosen(0.3, (0.001, 0.01, 0.05))
        late = []

        def rule_or_late(message):
            if message.command == "insert" and not message.books and len(late) < 4 and self.draw.random() < 0.02:
                late.append(message.reply)
                return 6.0  # the load waits for 3.5 s
            return rule(message)
        counts, _ = self.through(rule_or_late, "--patience", "6s", status=(0, 2, 4))
        self.assertGreater(len(met), 10)
        self.load(*WORDS, status=(0, 2))
        self.verified(TEXTS, WORDS, "%d messages were slow and %d came late%s" % (
            len(met), len(late), "" if counts["read"] == READ else ", and the load gave up"))

    @livetest.nightly
    def test_all_at_once(self):
        """anything, at any message, also those by which the driver looks after the server; and so until it is done"""
        rule, met = self.chosen(0.04, (relay.CUT, relay.HALF_CUT, 0.02, 0.3, relay.HALF), lambda _: len(met) < 40)
        runs, counts = 0, None
        while not counts or counts["status"] == 4:
            counts, _ = self.through(rule, "--patience", "4s", status=(0, 2, 4))
            runs += 1
        self.verified(TEXTS, WORDS, "%d messages were cut, halved or delayed; it took %d runs" % (len(met), runs))


class Majority(Network, faultlab.Lab):
    server = "replset-auth"

    def test_cut_while_it_logs_in(self):
        """connections are lost while they log in, at the beginning and in the middle: nobody's password is wrong"""
        met, middle = [], self.draw.randint(1, DOCUMENTS // 2)

        def rule(message):
            if message.command.startswith("sasl") and len(met) < (5 if moment.seen < middle else 10):
                met.append(message.command)
                return self.draw.choice((relay.CUT, relay.HALF_CUT))
            return relay.PASS

        def lose_all():
            threading.Thread(target=self.relays.cut).start()  # not while the relays' lock is held
            return relay.CUT  # so that at least one logs in again, however late the others are cut
        moment = faultlab.Moment(middle, lose_all, rule)
        counts, _ = self.through(moment, "--patience", "3m")
        self.assertEqual((READ, 2, 10), (counts["read"], counts["rejected"], len(met)))
        self.verified(TEXTS, WORDS, "connections were lost at %d messages of logging in" % len(met))


@livetest.nightly
class Standalone(Network, faultlab.Lab):
    pass


if __name__ == "__main__":
    livetest.main()
