"""tipple query at rates: the curve, the highest rate within a bound, arrivals by chance, and requests that are given up.
needs: none

Rates are low and bounds are far away, so that a busy host keeps them as well."""
import json
import os
import signal

import livereport
import livetest

SUITE = """suite: rates
queries:
  - name: one
    find: {filter: {_id: 7}}
  - name: slow
    find: {filter: {$where: "sleep(100) || true"}}
    options: {batchSize: 2}
"""


class Asked(livetest.OwnServer):
    COUNT = 100

    def setUp(self):
        super().setUp()
        self.write("x.yaml", SUITE)
        self.client.insert(self.database, "results", [{"_id": number} for number in range(self.COUNT)])

    def query(self, *words, status=0):
        """What --json says."""
        done = self.tipple("query", "--suite", "./x.yaml", "--uri", self.uri(), "--json", *words, status=status)
        self.stderr = done.stderr
        return json.loads(done.stdout)


class Rates(Asked):
    TIMES = ("one", "--duration", "2s", "--repeats", 2, "--clients", 2)

    def test_curve(self):
        """each rate is a measurement; the highest within the bound is the answer, and those above it are no failure"""
        words = (*self.TIMES, "--rate", "8,1g,2,4", "--fail-if", "p50>1h")
        said = self.query(*words, "--report", "rates.html")
        self.assertEqual([2, 4, 8, 10**9], [each["rate"] for each in said["queries"]])
        self.assertEqual([4, 8, 16], [each["n"] for each in said["queries"][:3]])
        curve, = said["curves"]
        self.assertEqual(("one", 2, 8, "kept"), tuple(curve[key] for key in ("name", "clients", "highest_rate", "verdict")))
        self.assertEqual("kept", said["verdict"])
        for point, each in zip(curve["rates"], said["queries"]):
            for key in ("rate", "n", "p50_ms", "p99_ms", "late", "skipped", "verdict"):
                self.assertEqual(each[key], point[key], key)
        fastest = said["queries"][3]
        self.assertGreater(fastest["skipped"], 0)
        self.assertEqual("missed", fastest["verdict"])
        self.assertIn("the rate was not held", fastest["missed"])
        self.assertIn("'p50>1h' is 8 requests a second", curve["sentence"])
        page = livereport.Page(self.folder / "rates.html")
        self.assertIn("is 8 requests a second (one, 2 clients)", page.sentence)
        self.assertEqual(["2", "4", "8", "1,000,000,000"],
                         [row["requests/s"] for row in page.tables["one, 2 clients: latency by rate"]])
        self.assertIn('<path class="line dashed" d="M', page.text)

    def test_compare(self):
        """a rate is compared with the same one; other arrivals are not compared"""
        words = ("one", "--count", 2, "--repeats", 2, "--warmup", 0)
        self.write("old.json", json.dumps(self.query(*words, "--rate", "50,200,400")))
        obstacles = [each["compared"]["obstacle"] for each in self.query(*words, "--rate", "200,300", "--compare", "old.json")["queries"]]
        self.assertEqual([None, "another rate"], obstacles)
        each, = self.query(*words, "--rate", "200", "--arrivals", "poisson", "--compare", "old.json")["queries"]
        self.assertEqual("other arrivals", each["compared"]["obstacle"])


class Timeouts(Asked):
    LIMITS = ("--timeout", "1s", "--repeats", 2, "--clients", 2)

    def setUp(self):
        super().setUp()
        self.pid = self.state["members"][0]["pid"]

    def freezes(self, *afterwards):
        """A command for --while."""
        self.addCleanup(os.kill, self.pid, signal.SIGCONT)
        return "; ".join(("sleep 2", "kill -STOP %d" % self.pid, *afterwards, "sleep 600"))

    def test_frozen(self):
        """a server that is frozen for good ends the command by itself, with a sentence and what was measured"""
        for words in ((), ("--rate", "20,30", "--fail-if", "p99>1h"), ("--clients", "1,2")):
            said = self.query("one", *self.LIMITS, "--warmup", 0, "--patience", "1s", "--duration", "20s", *words, "--while", self.freezes(), status=4)
            os.kill(self.pid, signal.SIGCONT)
            self.assertIn("one failed: ", self.stderr)
            for each in said["queries"]:
                self.assertGreaterEqual(each["skipped"], each["timeouts"])
                self.assertIn("--patience", each["failure"])
            self.assertNotIn("not explained", self.stderr)
            self.assertEqual(1, said["timeout_seconds"])

    def test_frozen_for_a_while(self):
        """clients connect again, and go on; the intervals without an answer are there, and break the line"""
        wakes = self.freezes("sleep 3", "kill -CONT %d" % self.pid)
        said = self.query("one", *self.LIMITS, "--patience", "60s", "--duration", "10s", "--rate", 20, "--while", wakes,
                          "--report", "frozen.html")
        each, = said["queries"]
        self.assertEqual((0, None), (each["failures"], each["failure"]))
        self.assertGreaterEqual(each["timeouts"], 1)
        self.assertGreaterEqual(each["skipped"], each["timeouts"])
        self.assertEqual(200, each["n"] + each["skipped"])
        self.assertLessEqual(each["service"]["p50_ms"], 1000)
        counts = [slot["n"] for slot in each["over_time"]]
        self.assertIn([0] * 10, [counts[at:at + 10] for at in range(len(counts))])
        self.assertGreater(counts[0] + counts[1], 0)
        self.assertEqual([count > 0 for count in counts], [slot["mean_ms"] is not None for slot in each["over_time"]])
        page = livereport.Page(self.folder / "frozen.html")
        self.assertGreater(page.text.partition('<path class="line" d="')[2].partition('"')[0].count("M"), 1)
        self.assertTrue([note for note in page.notes if "longer than --timeout" in note], page.notes)

    def test_batches(self):
        """the time is that of a whole request, however soon each of its batches comes"""
        said = self.query("slow", *self.LIMITS, status=4)
        each, = said["queries"]
        self.assertEqual((0, 0), (each["n"], each["timeouts"]))  # only warming up has asked it
        self.assertIn("--timeout (1.0 s)", each["failure"])
        self.assertEqual([], self.client.command("admin", {"aggregate": 1, "cursor": {}, "pipeline": [
            {"$currentOp": {"idleCursors": True}}, {"$match": {"ns": self.database + ".results"}}]})["cursor"]["firstBatch"])


if __name__ == "__main__":
    del Asked
    livetest.main()
