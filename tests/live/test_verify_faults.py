"""A verify whose server falters, is cut off, or goes away; one that is interrupted: no false word about the data.
needs: replset; nightly on: standalone; locks: failpoints"""
import itertools
import json
import signal
import subprocess
import threading
import time

import livetest
import liveverify
import relay
from liveverify import readings


class Faults(liveverify.Case):
    ROWS = 60_000

    def setUp(self):
        super().setUp()
        self.put("a.csv", readings(self.ROWS))
        self.load("a.csv")

    def through(self, meddle):
        """Relays, and the words for a verify through them. `meddle(number, message)` says what becomes of the reply to
        each find of `results`, from 1."""
        numbers = itertools.count(1)

        def rule(message):
            is_one = message.reply and message.command == "find" and message.collection == "results"
            return meddle(next(numbers), message) if is_one else relay.PASS
        relays = relay.Relays([member["port"] for member in self.state["members"]], rule)
        self.addCleanup(relays.close)
        return relays, ("--uri", relays.rename(self.uri()))

    def begin(self, *words, json_wanted=True):
        words = [word for word in self.verify_words(*words) if json_wanted or word != "--json"]
        process = subprocess.Popen(self.command(*words), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL)

        def end():
            process.kill()
            process.communicate()
        self.addCleanup(end)
        return process

    def test_interrupted(self):
        """SIGINT and SIGTERM: what was found until then is said, nothing of the rest, and the process dies of the signal"""
        self.set(self.id_at("a.csv", 2), k="other")
        for number, answered, json_wanted in ((signal.SIGINT, True, True), (signal.SIGTERM, True, True),
                                              (signal.SIGINT, False, True), (signal.SIGINT, True, False)):
            waits, gate = threading.Event(), threading.Event()

            def look(number, _, waits=waits, gate=gate):
                if number <= 3:  # the first block has been looked at twice then
                    return relay.PASS
                waits.set()
                return gate
            _, words = self.through(look)
            self.addCleanup(gate.set)
            process = self.begin("a.csv", "-j", 1, *words, json_wanted=json_wanted)
            self.assertTrue(livetest.wait_for(lambda: waits.is_set() or process.poll() is not None))
            self.assertIsNone(process.poll())
            process.send_signal(number)
            if answered:
                time.sleep(0.2)  # it may have heard of the signal by then, or not
                gate.set()
            out, err = process.communicate(timeout=livetest.LONG)
            gate.set()
            self.assertEqual(-number, process.returncode, err)
            self.assertIn(b"interrupted", err)
            if not json_wanted:
                self.assertRegex(out.decode(), r"(?m)^not finished: about [1-9]\d? % .* 1 changed; ")
                self.assertNotIn(b"none", out)
                continue
            said = json.loads(out)
            self.assertEqual((128 + number, False, 1, 0), (said["status"], said["ended"], said["changed"], said["missing"]))
            self.assertLess(said["documents"], self.ROWS)


if __name__ == "__main__":
    livetest.main()
