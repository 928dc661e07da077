"""Replies that are lost at the start of a load, and loads that are killed where an _id may be on several shards.
needs: none; nightly on: standalone replset cluster; nightly: loads are killed at random moments"""
import json

import neverlost
import relay
from livetest import rows

READS = {"find", "getMore", "aggregate", "count", "hello", "isMaster", "ismaster", "ping", "buildInfo", "killCursors",
         "listCollections", "serverStatus", "endSessions", "getParameter", "collStats", "getCmdLineOpts", "hostInfo",
         "saslStart", "saslContinue", "connectionStatus"}


class Replies(neverlost.Case):
    server = "replset"

    def test_lost_at_the_start(self):
        """the reply to a command that writes down an input is lost: the input is known once, and completed"""
        text = rows(500, 3)
        for number in range(1, 13):
            self.begin_anew()
            left, met = [number], []

            def rule(message):
                if self.is_data(message):
                    left[0] = -1
                elif message.reply and message.command not in READS and "results" in message.collection:
                    left[0] -= 1
                if left[0] != 0 or met:
                    return relay.PASS
                met.append(message.command)
                return relay.CUT
            self.relayed(rule)
            self.load("-", stdin=text)
            self.unrelayed()
            self.exact({"-": text}, "reply %d to %s was lost" % (number, met))
            status = json.loads(self.tipple("status", "--uri", self.uri(), "--json").stdout)
            self.assertEqual((1, 1), (status["files"], status["files_complete"]),
                             "reply %d to %s was lost" % (number, met))
            if not met:
                break
        self.assertGreater(number, 1)


class Hashed(neverlost.Case):
    needs = ("cluster", "k:hashed")

    def test_killed(self):
        """a load through routers, killed and gone on with: each record is on one shard"""
        texts = self.inputs({"a.csv": rows(9000, 5), "b.gz": rows(3000, 6)})
        for _ in range(4):
            self.interrupted(self.draw.randint(100, 3000), "-b", "100", *texts)
        self.finished(texts)


if __name__ == "__main__":
    neverlost.main()
