"""livedrill: runs of `tipple drill`, and what must hold after any of them: the target is as it was, and nothing is left
but the history.

    class Drill(livedrill.Mixin, livetest.OwnServer):
        def test_small(self):
            said = self.drill("--index", "k:1", "a.csv")
            self.adds_up(said["drills"][0], 3000)

Nothing is asserted on speed.
"""
import json
import signal
import subprocess
import threading

import livetest

SCRATCH = "results.tipple.drill"
HISTORY = "results.tipple.drills"
SMALL = ("--sample", "1000")
PHASES = ("look", "drop", "create", "place", "load", "indexes", "close", "verify", "first query")
# What a drill says of a phase on stderr, and the server's command that it waits for then.
ANNOUNCED = (("dropping what is there", "drop"), ("creating the collection", "create"), ("loading", "insert"),
             ("building the indexes", "createIndexes"), ("verifying", "find"), ("asking the first query", "aggregate"))


class Mixin:
    """For a livetest.Case: `text` is in the folder as a.csv."""
    ROWS = 3000
    text = livetest.rows(ROWS, 3)

    def setUp(self):
        super().setUp()
        self.write("a.csv", self.text)

    def target(self):
        """Everything in the database but the history."""
        return {name: what for name, what in self.everything().items() if name != HISTORY}

    def history(self):
        return list(self.client.find(self.database, HISTORY, sort={"when": 1}))

    def drill_words(self, *words):
        return ["drill", "--format", "mot", "--uri", self.uri(), *words]

    def drill(self, *words, status=0, touches=False):
        """What --json says; None where nothing was printed. touches: the target may be another afterwards."""
        before, files = self.target(), sorted(self.folder.iterdir())
        done = self.tipple(*self.drill_words("--json", *words), status=status)
        self.stderr = done.stderr
        if not touches:
            self.assertEqual(before, self.target(), "the target was touched, or something is left")
            self.assertEqual(files, sorted(self.folder.iterdir()))
        self.assertEqual([], self.scratch_names())
        if not done.stdout:
            return None
        said = json.loads(done.stdout)
        self.assertEqual((1, "drill", status), (said["schema"], said["command"], said["status"]))
        return said

    def scratch_names(self):
        listed = self.client.command(self.database, {"listCollections": 1})["cursor"]["firstBatch"]
        return [entry["name"] for entry in listed if entry["name"].startswith(SCRATCH) and entry["name"] != HISTORY]

    def phases(self, drill):
        return {phase["phase"]: phase for phase in drill["phases"]}

    def adds_up(self, drill, documents, foretold=True):
        """Phases one behind the other, which are nearly the whole; errors that follow from what is beside them."""
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
            if not foretold:
                self.assertIsNone(thing["foretold"])
                self.assertIsNone(thing["error_percent"])
                continue
            guess = thing["foretold"]
            self.assertLessEqual(0, guess["low"])
            self.assertLessEqual(guess["low"], guess["seconds"])
            self.assertLessEqual(guess["seconds"], guess["high"])
            if thing["seconds"] > 0.001:  # else the digits that are printed are too few
                self.assertAlmostEqual((guess["seconds"] / thing["seconds"] - 1) * 100, thing["error_percent"],
                                       delta=0.2 + abs(thing["error_percent"]) / 100)
        if foretold:
            self.assertAlmostEqual(sum(phase["foretold"]["seconds"] for phase in drill["phases"]),
                                   drill["foretold"]["seconds"], places=4)

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
        return livetest.wait_for(lambda: said() or process.poll() is not None) and said()

    def ended(self, process):
        """Its exit status, what it printed, and what it said."""
        out = process.stdout.read()
        status = process.wait(timeout=livetest.LONG)
        process.listener.join()
        return status, out.decode(), "\n".join(process.said)

    def slow(self, command):
        """From here on each of these commands takes a second more, an index is not built to its end; "": as ever."""
        builds = command == "createIndexes"
        self.client.command("admin", {"configureFailPoint": "hangAfterInitializingIndexBuild",
                                      "mode": "alwaysOn" if builds else "off"})
        fails = {"configureFailPoint": "failCommand", "mode": "off"}
        if command and not builds:
            fails.update(mode="alwaysOn", data={"failCommands": [command], "blockConnection": True,
                                                "blockTimeMS": 1000, "appName": "tipple"})
        self.client.command("admin", fails)

    def is_building(self):
        running = self.client.command("admin", {"aggregate": 1, "pipeline": [
            {"$currentOp": {}}, {"$match": {"command.createIndexes": {"$exists": True}}}], "cursor": {}})
        return running["cursor"]["firstBatch"] != []

    def interrupted(self, announced, number=signal.SIGINT, *words):
        """A signal in a phase of a scratch drill: it dies of the signal, says in which phase, and leaves nothing."""
        before = self.target()
        process = self.start("--no-predict", "--index", "k:1", *words, "a.csv")
        self.assertTrue(self.heard(process, "drill: " + announced), process.said)
        if announced == "building the indexes":  # one that has not begun makes the collection anew
            self.assertTrue(livetest.wait_for(self.is_building))
        process.send_signal(number)
        self.slow("")
        status, out, said = self.ended(process)
        self.assertEqual(-number, status, said)
        self.assertIn("interrupted while ", said)
        self.assertEqual(before, self.target())
        self.assertEqual([], self.scratch_names())
        self.assertEqual([], self.history())
        return out, said
