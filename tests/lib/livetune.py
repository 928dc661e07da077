"""livetune: runs of `tipple tune`, and what must hold after any of them: nothing is left but what was there.

    class Tune(livetune.Case):
        def test_small(self):
            said = self.tune("--threads", "1,2", "--batch", "100", "--sample", "500", "a.csv")
            self.adds_up(said, 500)

Nothing is asserted on speed. With --precision 100% two trials of a setting are enough on a steady machine, and the budget
is long, so that a slow machine only takes longer.
"""
import json
import signal
import subprocess

import livetest

PATIENT = ("--precision", "100%", "--budget", "8m")
ENDLESS = ("--precision", "0.1%", "--budget", "1h", "--threads", "1,2", "--batch", "50,200", "--sample", "800")


class Mixin:
    """For a livetest.Case: `text` is in the folder as a.csv, and the cache folder is the test's own."""
    text = livetest.rows(3000, 3)

    def setUp(self):
        super().setUp()
        self.write("a.csv", self.text)
        self.environment = {"XDG_CACHE_HOME": str(self.folder / "cache")}

    FORMAT = ("--format", "mot")

    def tune_words(self, *words):
        return ["tune", *self.FORMAT, "--uri", self.uri(), *words]

    def tune(self, *words, status=0):
        """What --json says; None where nothing was printed. Nothing but what was there is left."""
        before = self.everything()
        done = self.tipple(*self.tune_words("--json", *PATIENT, *words), status=status, **self.environment)
        self.stderr = done.stderr
        self.assertEqual(before, self.everything(), "something was touched, or is left")
        self.assertEqual(["a.csv"], [path.name for path in sorted(self.folder.iterdir()) if path.suffix != ".log"
                                     and path.name not in ("cache", "b.csv")])
        if not done.stdout:
            return None
        said = json.loads(done.stdout)
        self.assertEqual((1, "tune", status), (said["schema"], said["command"], said["status"]))
        return said

    def start(self, *words):
        process = subprocess.Popen(self.command(*self.tune_words(*words)), cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**livetest.os.environ, **self.environment})

        def end():
            process.kill()
            process.communicate()
        self.addCleanup(end)
        return process

    def scratch_names(self):
        listed = self.client.command(self.database, {"listCollections": 1})["cursor"]["firstBatch"]
        return {entry["name"] for entry in listed if ".tipple.tune" in entry["name"]}

    def in_a_trial(self):
        """A study is in the middle of a trial."""
        self.assertTrue(livetest.wait_for(lambda: "results.tipple.tune" in self.scratch_names()))

    def cell_keys(self, said):
        return [(setting["threads"], setting["batch"]) for setting in said["settings"]]

    def adds_up(self, said, records):
        """Trials, documents, intervals, best and cheapest, from the numbers that were printed."""
        settings = said["settings"]
        self.assertEqual(said["trials"], sum(setting["trials"] for setting in settings))
        self.assertEqual(len(settings), len({json.dumps([setting[key] for key in (
            "threads", "batch", "clustered", "compressor", "wire_compressor", "write_concern", "direct",
            "routers")]) for setting in settings}))
        for setting in settings:
            self.assertGreaterEqual(setting["trials"], 2)
            self.assertEqual(setting["documents"], setting["trials"] * records)
            self.assertLessEqual(setting["low"], setting["docs_per_second"])
            self.assertLessEqual(setting["docs_per_second"], setting["high"])
            self.assertGreater(setting["docs_per_second"], 0)
            self.assertIn(setting["limit"], ("client CPU", "host CPU", "network", "input", "one shard", "router",
                                           "server CPU", "server"))
        self.assertEqual(said["settled"], sum(setting["state"] == "settled" for setting in settings))
        self.assertEqual(said["dropped"], sum(setting["state"] == "dropped" for setting in settings))
        best, cheapest = said["best"], said["cheapest"]
        self.assertEqual(best["docs_per_second"], max(setting["docs_per_second"] for setting in settings))
        self.assertIn(best, settings)
        self.assertIn(cheapest, settings)
        self.assertNotEqual("dropped", cheapest["state"])
        self.assertLessEqual((cheapest["threads"], cheapest["batch"]), (best["threads"], best["batch"]))

    def interrupted(self, number, *words):
        """A signal in the middle of a trial: the process dies of it, and leaves nothing."""
        before = self.everything()
        process = self.start("--json", *ENDLESS, *words, "a.csv")
        self.in_a_trial()
        process.send_signal(number)
        out, said = process.communicate(timeout=livetest.LONG)
        self.assertEqual(-number, process.returncode, said.decode())
        self.assertEqual("tipple: interrupted", said.decode().splitlines()[-1])  # nothing resumes from there
        self.assertEqual(before, self.everything())
        if out:  # the first trials were made
            self.assertEqual(128 + number, json.loads(out)["status"])

    def killed(self):
        """A study that is killed leaves its collection; the next one drops that."""
        process = self.start(*ENDLESS, "a.csv")
        self.in_a_trial()
        self.kill(process)
        self.assertIn("results.tipple.tune.tipple.mark", self.scratch_names())
        done = self.tipple(*self.tune_words("--json", *PATIENT, "--threads", "2", "--batch", "200", "--sample", "500",
                                            "a.csv"), **self.environment)
        self.assertIn("left from a study", done.stderr)
        self.adds_up(json.loads(done.stdout), 500)
        self.assertEqual(set(), self.scratch_names())
