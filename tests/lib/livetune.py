"""livetune: runs of `tipple tune`, and what must hold after any of them: nothing is left but what was there.

    class Tune(livetune.Mixin, livetest.Case):
        def test_small(self):
            self.slow()
            said = self.tune("--threads", "1,2", *livetune.SLOW, "--budget", "9s", "a.csv")
            self.adds_up(said)

Nothing is asserted on speed. A tune that has to settle gets a long budget, since a busy host makes it repeat trials. A trial that
counts takes two seconds: after slow() its server spends them asleep.
"""
import json
import re
import signal
import subprocess

import livetest

SLOW = ("--batch", "100", "--sample", "12k")
ENDLESS = ("--budget", "1h", "--threads", "1", "--batch", "5")
SCRATCH = "results.tipple.tune."


def slow(case):
    """From here on each batch of a client with this test's appName takes 40 ms: 12,000 rows, which are four blocks, take one
    thread 4.8 s in batches of 100, and two threads 2.8 s. Such rows are in a.csv. Returns a URI with that name."""
    case.write("a.csv", livetest.rows(12000, 3))
    case.addCleanup(case.client.command, "admin", {"configureFailPoint": "failCommand", "mode": "off"})
    case.client.command("admin", {"configureFailPoint": "failCommand", "mode": "alwaysOn", "data": {
        "failCommands": ["insert"], "blockConnection": True, "blockTimeMS": 40, "appName": case.database}})
    return named(livetest.Case.uri(case), case)


def named(uri, case):
    return uri + ("" if uri.endswith("?") else "&" if "?" in uri else "?") + "appName=" + case.database


class Mixin:
    """For a livetest.Case: `text` is in the folder as a.csv, and the cache folder is the test's own."""
    ROWS = 3000
    text = livetest.rows(ROWS, 3)
    FORMAT = ("--format", "mot")

    def setUp(self):
        super().setUp()
        self.write("a.csv", self.text)
        self.environment = {"XDG_CACHE_HOME": str(self.folder / "cache")}

    def uri(self, collection="results"):
        return named(super().uri(collection), self)

    def slow(self):
        slow(self)

    def tune_words(self, *words):
        return ["tune", *self.FORMAT, "--uri", self.uri(), *words]

    def tune(self, *words, status=0):
        """What --json says; None where nothing was printed. Nothing but what was there is left."""
        before = self.everything()
        done = self.tipple(*self.tune_words("--json", *words), status=status, **self.environment)
        self.stderr = done.stderr
        self.assertEqual(before, self.everything(), "something was touched, or is left")
        self.assertEqual(["a.csv"], [path.name for path in sorted(self.folder.iterdir()) if path.suffix != ".log"
                                     and path.name not in ("cache", "b.csv")])
        if not done.stdout:
            return None
        said = json.loads(done.stdout)
        self.assertEqual((1, "tune", status), (said["schema"], said["command"], said["status"]))
        return said

    def start_endless(self, *words):
        """A tune in the middle of a trial."""
        self.write("b.csv", livetest.rows(60000, 3))
        process = subprocess.Popen(self.command(*self.tune_words(*ENDLESS, *words, "b.csv")), cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**livetest.os.environ, **self.environment})

        def end():
            process.kill()
            process.communicate()
        self.addCleanup(end)
        livetest.wait_for(lambda: self.trials() or process.poll() is not None)
        if process.poll() is not None:
            self.fail("it ended before a trial: %s" % process.communicate()[1].decode())
        return process

    def trials(self):
        """The collections in which trials are made at this moment."""
        return [name for name in self.scratch_names() if re.fullmatch("[0-9a-f]{12}", name[len(SCRATCH):])]

    def scratch_names(self):
        listed = self.client.command(self.database, {"listCollections": 1})["cursor"]["firstBatch"]
        return [entry["name"] for entry in listed if entry["name"].startswith(SCRATCH)]

    def adds_up(self, said):
        """Trials, documents, the set, best and cheapest, from the numbers that were printed."""
        settings = said["settings"]
        self.assertEqual(said["trials"], sum(setting["trials"] for setting in settings))
        self.assertEqual(len(settings), len({json.dumps([setting[key] for key in (
            "threads", "batch", "compressor", "memory")]) for setting in settings}))
        for setting in settings:
            if setting["state"] == "too small":
                self.assertEqual((0, None, None), tuple(setting[key] for key in ("trials", "docs_per_second", "limit")))
                continue
            self.assertGreaterEqual(setting["trials"], 1)
            self.assertLessEqual(setting["documents"], setting["trials"] * said["records"])
            self.assertGreaterEqual(setting["documents"], setting["trials"] * 4 * setting["threads"] * setting["batch"])
            if setting["low"] is not None:  # there were trials enough for a range
                self.assertLess(0, setting["low"])
                self.assertLessEqual(setting["low"], setting["docs_per_second"])
                self.assertLessEqual(setting["docs_per_second"], setting["high"])
            self.assertIn(setting["limit"], ("client CPU", "host CPU", "input", "one shard", "server CPU", "server"))
        for key, state in (("close", "close"), ("dropped", "dropped"), ("too_small", "too small"), ("untried", "untried")):
            self.assertEqual(said[key], sum(setting["state"] == state for setting in settings))
        best, cheapest = said["best"], said["cheapest"]
        known = [setting for setting in settings if setting["trials"]]
        self.assertEqual(best["docs_per_second"], max(setting["docs_per_second"] for setting in known))
        near = [setting for setting in known if setting["docs_per_second"] >= 0.97 * best["docs_per_second"]]
        self.assertEqual(near[0], cheapest)
        self.assertEqual(("close", "close"), (best["state"], cheapest["state"]))
        if said["settled"]:
            self.assertGreaterEqual(cheapest["trials"], 3)
        self.assertEqual(settings, sorted(settings, key=lambda setting: (setting["threads"], setting["batch"])))

    def interrupted(self, number, *words):
        """A signal in the middle of a trial: the process dies of it, and leaves nothing."""
        before = self.everything()
        process = self.start_endless("--json", *words)
        process.send_signal(number)
        _, said = process.communicate(timeout=livetest.LONG)
        self.assertEqual(-number, process.returncode, said.decode())
        self.assertEqual("tipple: interrupted", said.decode().splitlines()[-1])  # nothing resumes from there
        self.assertEqual(before, self.everything())

    def killed(self):
        """A study that is killed leaves its collection; the next one drops that."""
        process = self.start_endless()
        self.kill(process)
        self.assertNotEqual([], self.scratch_names())
        done = self.tipple(*self.tune_words("--threads", "2", "--batch", "200", "a.csv"), status=1, **self.environment)
        self.assertIn("left from a study", done.stderr)
        self.assertEqual({}, self.everything())
