"""Connections that are cut, that stop in the middle of a message, or that are slow: before a replica set with users.
needs: none"""
import threading

import faultlab
import livetest
import relay
from faultnetwork import DOCUMENTS, TEXTS, WORDS, Network


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
        self.assertEqual((14000, 2, 10), (counts["read"], counts["rejected"], len(met)))
        self.verified(TEXTS, WORDS, "connections were lost at %d messages of logging in" % len(met))


if __name__ == "__main__":
    livetest.main()
