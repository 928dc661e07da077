"""livedrill: runs of `tipple drill`, and what must hold after any of them: the target is as it was, and nothing is left.

    class Drill(livedrill.Mixin, livetest.OwnServer):
        def test_small(self):
            said = self.drill("--index", "k:1", "a.csv")
            self.adds_up(said["drills"][0], 3000)

Nothing is asserted on speed.
"""
import json
import re
import signal
import subprocess
import threading

import livetest
import relay

SCRATCH = "results.tipple.drill."
SMALL = ("--sample", "1000")
PHASES = ("look", "drop", "create", "place", "load", "indexes", "close", "verify", "first query")
# What a drill says of a phase on stderr, and the server's command that it waits for then.
ANNOUNCED = (("dropping what is there", "drop"), ("creating the collection", "create"), ("loading", "insert"),
             ("building the indexes", "createIndexes"), ("verifying", "find"), ("asking the first query", "aggregate"))


class Mixin:
    """For a livetest.Case: `text` is in the folder as a.csv."""
    ROWS = 3000
    text = livetest.rows(ROWS, 3)
    relays = command_held = None
    FORMAT = ("--format", "mot")

    def setUp(self):
        super().setUp()
        self.gate = threading.Event()
        self.write("a.csv", self.text)

    def drill_words(self, *words):
        return ["drill", *self.FORMAT, "--uri", self.uri(), *words]

    def drill(self, *words, status=0, touches=False):
        """What --json says; None where nothing was printed. touches: the target may be another afterwards."""
        before, files = self.everything(), sorted(self.folder.iterdir())
        done = self.tipple(*self.drill_words("--json", *words), status=status)
        self.stderr = done.stderr
        if not touches:
            self.assertEqual(before, self.everything(), "the target was touched, or something is left")
            self.assertEqual(files, sorted(self.folder.iterdir()))
        self.assertEqual([], self.scratch_names())
        if not done.stdout:
            return None
        said = json.loads(done.stdout)
        self.assertEqual((1, "drill", status), (said["schema"], said["command"], said["status"]))
        return said

    def scratch_names(self):
        listed = self.client.command(self.database, {"listCollections": 1})["cursor"]["firstBatch"]
        return [entry["name"] for entry in listed if entry["name"].startswith(SCRATCH)]

    def scratch(self):
        """The collection of the drill that runs, or ""."""
        return next((name for name in self.scratch_names() if re.fullmatch("[0-9a-f]{12}", name[len(SCRATCH):])), "")

    def phases(self, drill):
        return {phase["phase"]: phase for phase in drill["phases"]}

    def adds_up(self, drill, documents, predicted=True):
        """Phases one after the other, which are nearly the whole; errors that follow from what is next to them."""
        self.assertTrue(drill["finished"])
        self.assertEqual((documents, documents), (drill["load"]["loaded"], drill["verified"]))
        measured = [phase for phase in drill["phases"] if phase["seconds"] is not None]
        self.assertLessEqual(sum(phase["seconds"] for phase in measured), drill["seconds"] * 1.0001)
        self.assertGreater(sum(phase["seconds"] for phase in measured), drill["seconds"] * 0.7)
        self.assertLessEqual(drill["verified_seconds"], drill["seconds"])
        for phase in measured:
            self.assertIn(phase["phase"], PHASES)
            self.assertLessEqual(phase["began_seconds"] + (phase["phase"] != "look") * phase["seconds"],
                                 drill["seconds"] * 1.0001)
        for thing in (*measured, drill):
            if not predicted:
                self.assertIsNone(thing["predicted"])
                self.assertIsNone(thing["error_percent"])
                continue
            guess = thing["predicted"]
            self.assertLessEqual(0, guess["low"])
            self.assertLessEqual(guess["low"], guess["seconds"])
            self.assertLessEqual(guess["seconds"], guess["high"])
            if thing["seconds"] > 0.001:  # else the digits that are printed are too few
                self.assertAlmostEqual((guess["seconds"] / thing["seconds"] - 1) * 100, thing["error_percent"],
                                       delta=0.2 + abs(thing["error_percent"]) / 100)
        if predicted:
            self.assertAlmostEqual(sum(phase["predicted"]["seconds"] for phase in drill["phases"]),
                                   drill["predicted"]["seconds"], places=4)

    def start(self, *words):
        """A drill in the background; what it says is read as it comes: see heard."""
        process = subprocess.Popen(self.command(*self.drill_words(*words)), cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.said = []

        def listen():
            for line in process.stderr:
                process.said.append(line.decode(errors="replace").rstrip())
        process.listener = threading.Thread(target=listen, daemon=True)
        process.listener.start()

        def end():
            process.kill()
            process.wait()
            process.listener.join()
            process.stdout.close()
            process.stderr.close()
        self.addCleanup(end)
        return process

    def heard(self, process, text):
        """It says so, before it ends."""
        def said():
            return any(text in line for line in process.said)
        return livetest.wait_for(lambda: said() or not process.listener.is_alive()) and said()

    def ended(self, process):
        """Its exit status, what it printed, and what it said."""
        out = process.stdout.read()
        status = process.wait(timeout=livetest.LONG)
        process.listener.join()
        return status, out.decode(), "\n".join(process.said)

    def uri(self, collection="results"):
        return self.relays.rename(super().uri(collection)) if self.relays else super().uri(collection)

    def hold(self, command):
        """From here on no reply says that such a command was done to the collection, nor is an index built to its end;
        "": as ever. So a phase lasts for as long as the test needs, on any host."""
        self.client.command("admin", {"configureFailPoint": "hangAfterInitializingIndexBuild",
                                      "mode": "alwaysOn" if command == "createIndexes" else "off"})
        if not self.relays:
            self.relays = relay.Relays([member["port"] for member in self.state["members"]], self.held)
            self.addCleanup(self.relays.close)
        self.gate.set()
        self.gate, self.command_held, self.has_inserted = threading.Event(), command, False

    def held(self, message):
        """Finds count from the first document on: what is empty is looked at, too."""
        if not message.reply or not re.fullmatch(r"results(\.tipple\.drill\.[0-9a-f]{12})?", message.collection or ""):
            return relay.PASS
        self.has_inserted |= message.command == "insert"
        counts = message.command == self.command_held and (message.command != "find" or self.has_inserted)
        return self.gate if counts else relay.PASS

    def is_building(self):
        running = self.client.command("admin", {"aggregate": 1, "pipeline": [
            {"$currentOp": {}}, {"$match": {"command.createIndexes": {"$exists": True}}}], "cursor": {}})
        return running["cursor"]["firstBatch"] != []

    def interrupted(self, announced, number=signal.SIGINT, *words):
        """A signal in a phase of a scratch drill: it dies of the signal, says in which phase, and leaves nothing."""
        before = self.everything()
        process = self.start("--no-predict", "--index", "k:1", *words, "a.csv")
        self.assertTrue(self.heard(process, "drill: " + announced), process.said)
        if announced == "building the indexes":  # one that has not begun makes the collection anew
            self.assertTrue(livetest.wait_for(self.is_building))
        process.send_signal(number)
        self.hold("")
        status, out, said = self.ended(process)
        self.assertEqual(-number, status, said)
        self.assertIn("interrupted while ", said)
        self.assertEqual(before, self.everything())
        self.assertEqual([], self.scratch_names())
        return out, said
