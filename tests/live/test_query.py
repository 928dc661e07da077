"""tipple query: what is sent, how often and in which order, what is counted, and what becomes of failures.
What the server did is read from its own profile; the documents are put there by another client.
needs: replset; nightly on: standalone; locks: failpoints"""
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
import unittest

import live
import livereport
import livetest
import minimongo

sys.path.insert(0, str(live.ROOT / "tests/oracle"))
import ratios  # noqa: E402

# with a command next to it no measurement is `disturbed`, however busy this host is
CALM = "--while", "sleep 1000"

SUITE = """suite: numbers
about: a thousand documents
params: {least: 0, when: {$date: 2014-01-01}}
queries:
  - name: count
    tags: [quick, scan]
    pipeline: [{$match: {n: {$gte: {$param: least}}}}, {$count: there}]
  - name: first
    tags: [quick]
    each: {size: [1, 2, 3]}
    documents: {$param: size}
    find: {filter: {}, sort: {_id: 1}, limit: {$param: size}, projection: {_id: 1}}
  - name: one
    draw: {gives: [id], pipeline: [{$sample: {size: 50}}, {$project: {_id: 0, id: $_id}}]}
    find: {filter: {_id: {$param: id}}}
  - name: sums
    accumulate: {field: n}
  - name: slow
    options: {maxTimeMS: 5}
    pipeline:
      - {$match: {n: {$lt: 40}}}
      - {$lookup: {from: results, pipeline: [{$match: {$expr: {$gt: [{$pow: [{$sin: $n}, 3]}, 2]}}}], as: others}}
      - {$count: there}
"""

FOUND = """suite: found
queries:
  - name: all
    each: {n: [1, 5000]}
    find: {filter: {n: {$param: n}}}
    explain: yes
  - name: some
    draw: {gives: [id], pipeline: [{$limit: 40}, {$project: {_id: 0, id: {$multiply: [$_id, 50]}}}]}
    find: {filter: {_id: {$param: id}}}
    run: {clients: [1, 4]}
tables:
  - title: documents
    rows: n
    columns: query
    show: mean_ms
    published: {1: {all: 2702}, 5000: {all: 3, Postgres: 0.5 σ 0.1}}
"""


class Query(livetest.Case):
    COUNT = 1000

    def setUp(self):
        super().setUp()
        self.write("x.yaml", SUITE)
        self.client.insert(self.database, "results", [{"_id": number, "n": number, "s": "%03d" % (number % 7)}
                                                      for number in range(self.COUNT)])

    def query_words(self, *words):
        return ["query", "--suite", "./x.yaml", "--uri", self.uri(), *words]

    def query(self, *words, status=0, **more):
        """What --json says: by name and parameters."""
        done = self.tipple(*self.query_words("--json", *words), status=status, **more)
        self.stderr = done.stderr
        self.said = json.loads(done.stdout)
        self.assertEqual(1, self.said["schema"])
        self.assertEqual(status, self.said["status"])
        return self.said["queries"]

    def profiled(self):
        """What was asked of the database since the last call, in order; from now on it is written down again."""
        self.client.command(self.database, {"profile": 0})
        there = self.client.command(self.database, {"listCollections": 1, "filter": {"name": "system.profile"}})
        found = []
        if there["cursor"]["firstBatch"]:
            found = list(self.client.find(self.database, "system.profile", sort={"$natural": 1}))
            self.client.command(self.database, {"drop": "system.profile"})
        self.client.command(self.database, {"create": "system.profile", "capped": True, "size": 32 << 20})
        self.client.command(self.database, {"profile": 2})
        return [entry["command"] for entry in found if "command" in entry]

    def finds(self):
        return [command for command in self.profiled() if command.get("find") == "results"]


class First(Query):
    def test_first(self):
        """--first: that many documents of the collection, of a filter or of a pipeline, each asked for once and limited"""
        self.profiled()
        for words, numbers in (((), [0, 1, 2]), (("{n:{$gte:500}}",), [500, 501, 502]),
                               (("[{$match:{n:{$gte:7}}},{$sort:{n:1}}]",), [7, 8, 9]), (("{n:999}",), [999])):
            done = self.tipple("query", "--uri", self.uri(), "--first", "3", *words)
            self.assertEqual(numbers, [json.loads(line)["n"] for line in done.stdout.splitlines()])
        commands = [command for command in self.profiled() if {"find", "aggregate"} & set(command)]
        asked = [command for command in commands if command.get("limit") == 3 or {"$limit": 3} in command.get("pipeline", ())]
        self.assertEqual(4, len(asked), commands)


class Counting(Query):
    def test_rounds(self):
        """n is clients x count x repeats, documents/ms and operations/s follow from it; the answer is the server's"""
        measured = self.query("count", "--clients", "1,4", "--count", 5, "--repeats", 3)
        self.assertEqual([(1, 15), (4, 60)], [(each["clients"], each["n"]) for each in measured])
        for each in measured:
            self.assertEqual("count", each["name"])
            self.assertEqual([{"there": self.COUNT}], each["result"])
            self.assertLessEqual(each["min_ms"], each["p50_ms"] * 1.01)
            self.assertLessEqual(each["p50_ms"], each["p95_ms"] or each["max_ms"])
            self.assertLessEqual(each["min_ms"], each["mean_ms"])
            self.assertLessEqual(each["mean_ms"], each["max_ms"])
            self.assertGreater(each["docs_per_ms"], self.COUNT / each["max_ms"] * 0.99)
            self.assertLess(each["docs_per_ms"], self.COUNT / each["min_ms"] * 1.01)
            self.assertGreater(each["ops_per_second"], 0)
            self.assertGreaterEqual(1.01, each["ops_per_second"] * each["mean_ms"] / 1000 / each["clients"])
        self.assertIsNone(measured[0]["p95_ms"])  # of 15, not one lies beyond it
        self.assertIsNotNone(measured[1]["p95_ms"])
        self.assertIsNone(measured[1]["p99_ms"])

    def test_figures(self):
        """the histogram and the course hold every request; percentiles are those of the histogram, in their intervals; with
        --rate service is the shorter part of latency"""
        for words in ((), ("--rate", 200)):
            each, = self.query("one", "--duration", "2s", "--repeats", 2, *words)
            n = each["n"]
            self.assertEqual([n, n], [sum(one["n"] for one in each[key]) for key in ("histogram", "over_time")])
            latencies = [bucket["ns"] for bucket in each["histogram"] for _ in range(bucket["n"])]
            self.assertAlmostEqual(each["p50_ms"] * 1e6 / statistics.median(latencies), 1, delta=0.02)
            for key in ("p50_ms", "p99_ms"):
                between = each[key + "_between"] or {"low": 0, "high": None}  # of too few requests there is none
                self.assertLessEqual(between["low"], each[key])
                self.assertGreaterEqual(between["high"] or each["max_ms"], each[key])
            self.assertAlmostEqual(max(one["max_ms"] or 0 for one in each["over_time"]), each["max_ms"], delta=1e-6)
            width = each["over_time_seconds"]
            self.assertEqual([round(at * width, 6) for at in range(len(each["over_time"]))], [one["seconds"] for one in each["over_time"]])
            self.assertEqual([one["n"] == 0 for one in each["over_time"]], [one["mean_ms"] is None for one in each["over_time"]])
            self.assertAlmostEqual(len(each["over_time"]) * width, sum(one["seconds"] for one in each["rounds"]), delta=width)
            self.assertEqual((2, n), (len(each["rounds"]), sum(one["n"] for one in each["rounds"])))
            self.assertLessEqual(min(one["p50_ms"] for one in each["rounds"]), each["p50_ms"] * 1.01)
            self.assertGreaterEqual(max(one["p50_ms"] for one in each["rounds"]), each["p50_ms"] * 0.99)
            if words:
                self.assertEqual((400, 0), (n, each["skipped"]))
                self.assertAlmostEqual(each["service"]["mean_ms"] + each["lag_mean_ms"], each["mean_ms"], delta=0.001)
            else:
                self.assertFalse({"service", "skipped"} & set(each))

    def test_fail_if(self):
        """--fail-if: status 6 with everything printed where a bound is missed or not judged, and a verdict for each
        measurement and for all; all bounds that were missed are named"""
        missed, = self.query("count", "--fail-if", "failed>0", "--fail-if", "p50>1us", "--fail-if", "p99>1h", "--repeats", 3, status=6)
        self.assertRegex(missed["missed"], r"^p50 is [\d.]+ ms \(--fail-if 'p50>1us'\); --fail-if 'p99>1h' cannot be judged: ")
        self.assertEqual(("missed", "missed"), (missed["verdict"], self.said["verdict"]))
        self.assertIn("count: p50 is", self.stderr)
        kept, = self.query("count", "--fail-if", "p50>1h", "--repeats", 3)
        self.assertEqual((None, "kept", "kept"), (kept["missed"], kept["verdict"], self.said["verdict"]))
        self.assertEqual("unjudged", self.query("count", "--fail-if", "p99>1h", "--repeats", 3, status=6)[0]["verdict"])
        self.query("one", "--duration", "1s", *CALM)
        self.assertIsNone(self.said["verdict"])
        self.write("old.json", json.dumps(self.said))
        self.query("one", "--duration", "1s", "--compare", "old.json", "--fail-if", "p50>1000000x", *CALM)
        self.query("one", "--duration", "1s", "--compare", "old.json", "--fail-if", "p50<1000000x", *CALM, status=6)
        few, = self.query("one", "--repeats", 2, "--count", 3, "--compare", "old.json", "--fail-if", "p50>50x", *CALM, status=6)
        self.assertEqual(("unjudged", "--fail-if 'p50>50x' cannot be judged: 4 more rounds are needed"), (few["verdict"], few["missed"]))
        missed, = self.query("count", "--fail-if", "p50>1h", "--while", "exit 3", "--duration", "500ms", status=6)
        self.assertIn("with status 3", missed["missed"])
        self.assertEqual("unjudged", missed["verdict"])

    def test_given(self):
        """a query that is given itself: a pipeline or a filter, on several lines too; it writes no more than others"""
        for query, kind, answer in (("[{$match: {n: {$lt: 7}}},\n{$count: there}]", "aggregate", [{"there": 7}]),
                                    ('{"n": {"$in": [3]}}', "find", [{"_id": 3, "n": 3, "s": "003"}]),
                                    ('{n:{$gt:2,$lt:4},s:"003"}', "find", [{"_id": 3, "n": 3, "s": "003"}])):
            self.profiled()
            done = self.tipple("query", "--uri", self.uri(), "--json", query)
            (measured,) = json.loads(done.stdout)["queries"]
            self.assertEqual(answer, measured["result"])
            self.assertTrue(any(kind in command for command in self.profiled()))
        for query, sentence in (("[{$out: x}]", "the query:1:2: '$out'"),
                                ("[{$match: ", "the query:"), ("{n: {$param: x}}", "no parameter 'x' here")):
            done = self.tipple("query", "--uri", self.uri(), query, status=1)
            self.assertIn(sentence, done.stderr)
        self.assertEqual(["results"], [name for name in self.everything() if not name.startswith("system")])

    def test_params(self):
        """--param: another value, also in the place of an `each`; tags choose; what is not there is refused"""
        counted, = self.query("count", "--param", "least=990", "--repeats", 1)
        self.assertEqual([{"there": 10}], counted["result"])
        measured = self.query("first", "--param", "size=[5, 7]", "--repeats", 1)
        self.assertEqual(["size=5", "size=7"], [each["with"] for each in measured])
        measured = self.query("first", "--param", "size=4", "--repeats", 1)
        self.assertEqual(["size=4"], [each["with"] for each in measured])
        self.assertEqual(4, len(self.query("quick", "--repeats", 1)))
        for words, said in ((("cuont",), "mean 'count'"), (("count", "--param", "last=5"), "mean 'least'"),
                            (("zzz",), "query --show SUITE"),
                            (("count", "--param", "least"), "is not NAME=VALUE"),
                            (("count", "--param", "least={$date: x}"), "least:1:1: "),
                            (("count", "--param", "least={$date:2016-01-01}"), "least:1:2: the key '$date:2016-01-01'")):
            done = self.tipple(*self.query_words(*words), status=1)
            self.assertIn(said, done.stderr)
            self.assertEqual(b"", done.stdout)


class Failing(Query):
    def test_failure(self):
        """a query that fails is marked and has no figure; the others are measured; status 4"""
        for _ in range(3):
            self.client.insert(self.database, "results", [{"n": 0} for _ in range(2000)])
        slow, counted = sorted(self.query("slow", "count", "--repeats", 2, status=4), key=lambda each: -each["failures"])
        self.assertEqual("slow", slow["name"])
        self.assertIn("time limit", slow["failure"])
        self.assertIn("time limit", self.stderr)
        for name in ("mean_ms", "sd_ms", "min_ms", "max_ms", "p50_ms", "docs_per_ms", "ops_per_second", "result",
                     "digest", "result_complete"):
            self.assertIsNone(slow[name], name)
        self.assertEqual((2, 0, None), (counted["n"], counted["failures"], counted["failure"]))
        done = self.tipple(*self.query_words("slow", "--repeats", 1), status=4)
        self.assertRegex(done.stdout.decode(), r"(?m)^slow +\d+ +failed$")

    def test_too_many(self):
        """combinations beyond any use are refused with their place, before anything is made; labels that are alike or too
        long to distinguish measurements are, too"""
        many = "[%s]" % ", ".join(map(str, range(20)))
        each = ", ".join("p%d: %s" % (number, many) for number in range(7))
        query = "suite: many\nqueries:\n  - name: q\n    each: {%s}\n    find: {filter: {}}\n"
        for values, words, said in (
                (each, (), "more than 10000 measurements"),
                ("n: [1, 2]", ("--clients", "1,2,3", "--param", "n=[%s]" % ", ".join(map(str, range(4000)))),
                 "more than 10000 measurements"),
                ("n: [1, '1']", (), "'n' are called '1'"),
                ("n: [1.5, '1.5']", (), "'n' are called '1.5'"),
                ("n: [1, 2]", ("--param", "n=[5, 5]"), "'n' are called '5'"),
                ("n: [%s]" % ("x" * 90), (), "more than 90 bytes")):
            self.write("x.yaml", query % values)
            done = self.tipple(*self.query_words(*words), status=1)
            self.assertRegex(done.stderr, r"x\.yaml:4:\d+: .*" + said)
        self.write("x.yaml", query % ("n: [%s, %s]" % ("x" * 87 + "1", "x" * 87 + "2")))
        first, second = self.query("--repeats", 1)
        self.assertEqual(["n=" + "x" * 87 + end for end in "12"], [first["with"], second["with"]])
        self.write("x.yaml", query % "n: {a: {b: 1}, a.b: 2}")
        self.assertEqual(["n=a", "n=a.b"], [each["with"] for each in self.query("--repeats", 1)])

    def test_writes_nothing(self):
        """all that reached the database of queries of each kind was aggregate, find, getMore and explain, and what preparing
        asks"""
        self.profiled()
        self.query("count", "first", "one", "sums", "--repeats", 1, "--count", 1, "--param", "size=[900]")
        asked = {next(iter(command)) for command in self.profiled()}
        self.assertLessEqual({"aggregate", "find"}, asked)
        self.assertLessEqual(asked, {"aggregate", "find", "getMore", "explain", "count", "collStats", "listIndexes",
                                     "listCollections", "killCursors", "profile"})

    def test_no_secondaries(self):
        """a standalone has none: its answers are not taken for theirs"""
        if live.KIND != "standalone":
            raise unittest.SkipTest("a standalone only")
        done = self.tipple(*self.query_words("count", "--read-preference", "secondary"), status=1)
        self.assertRegex(done.stderr, "--read-preference needs .* a standalone")

    def test_indexes(self):
        """an index that is missing: refused with its name; --setup makes it, and then it is there"""
        self.write("x.yaml", SUITE.replace("    tags: [quick, scan]\n", "    setup: {indexes: [{key: {s: 1, n: -1}}]}\n"
                                           "    options: {hint: {s: 1, n: -1}}\n", 1))
        done = self.tipple(*self.query_words("count"), status=1)
        self.assertIn("needs the index s_1_n_-1", done.stderr)
        self.assertIn("--setup", done.stderr)
        self.query("count", "--setup", "--repeats", 1)
        listed = self.client.command(self.database, {"listIndexes": "results"})["cursor"]["firstBatch"]
        self.assertIn({"s": 1, "n": -1}, [index["key"] for index in listed])
        self.query("count", "--repeats", 1)
        self.client.command(self.database, {"dropIndexes": "results", "index": "s_1_n_-1"})
        self.client.command(self.database, {"createIndexes": "results", "indexes": [
            {"key": {"s": 1, "n": -1}, "name": "mine", "sparse": True}]})
        for words in ((), ("--setup",)):
            done = self.tipple(*self.query_words("count", *words), status=1)
            self.assertIn("mine", done.stderr)

    def test_cut_off_in_batches(self):
        """Ctrl-C while the batches of one answer come, which last for minutes: each looks, and what has come is no answer"""
        uri = self.uri() + "&appName=" + self.database
        of = "    options: {batchSize: 2}\n    "
        self.write("long.yaml", "suite: long\nqueries:\n  - name: short\n    pipeline: [{$count: n}]\n" + "".join(
            "  - name: %s\n%s%s\n" % (name, of, body) for name, body in (
                ("found", "find: {filter: {}}"), ("summed", "accumulate: {field: n}"),
                ("piped", "pipeline: [{$match: {}}]"))))
        self.addCleanup(self.client.command, "admin", {"configureFailPoint": "failCommand", "mode": "off"})
        for name in "found", "summed", "piped":
            on = self.client.command("admin", {"configureFailPoint": "failCommand", "mode": "alwaysOn", "data": {
                "failCommands": ["getMore"], "blockConnection": True, "blockTimeMS": 200, "appName": self.database}})
            process = subprocess.Popen(self.command("query", "--suite", "./long.yaml", "--json", "--warmup", 0, "--uri", uri,
                                                    "short", name), cwd=self.folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            self.assertTrue(livetest.wait_for(lambda: process.poll() is not None or self.entered(on["count"] + 1)))
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=livetest.LONG)
            self.assertEqual(-signal.SIGINT, process.returncode, said)
            self.assertIn(b"interrupted; what is printed", said)
            short, cut = json.loads(out)["queries"]
            self.assertEqual((1, 0, None), (short["n"], short["failures"], short["failure"]), name)
            self.assertEqual((0, 0, None, None), (cut["n"], cut["failures"], cut["failure"], cut["result"]), name)

    def entered(self, times):
        """The fail point of commands was met so often. It is not set anew for that: until it is, all commands would pass."""
        try:
            self.client.command("admin", {"waitForFailPoint": "failCommand", "timesEntered": times, "maxTimeMS": 500})
        except minimongo.CommandError as error:
            self.assertEqual(50, error.code)
            return False
        return True

    def times(self, entry, key="p50_ms"):
        return [one[key] for one in entry["rounds"]]

    def is_ratio(self, expected, compared, key):
        between = compared[key + "_between"]
        for value, found in zip(expected, (compared[key + "_ratio"], between["low"], between["high"])):
            self.assertAlmostEqual(1, found / value, 6)

    def test_compare_json(self):
        """--compare: ratios of medians by rounds, and of 99th percentiles where each round has a hundred requests; what is
        new has none, and a disturbed run is not judged"""
        then, = self.query("count", "--repeats", 7, *CALM)
        self.assertEqual([1] * 7, self.times(then, "n"))
        self.assertAlmostEqual(then["mean_ms"], statistics.fmean(self.times(then)), 6)
        self.write("old.json", json.dumps(self.said))
        now, new = self.query("count", "sums", "--repeats", 11, "--compare", "old.json", *CALM)
        self.is_ratio(ratios.of_runs(self.times(now), self.times(then)), now["compared"], "p50")
        self.assertEqual([None, then["p50_ms"], None, None, None, "unjudged"],
                         [now["compared"][key] for key in ("obstacle", "then_p50_ms", "then_p99_ms", "p50_unjudged", "p99_ratio",
                                                           "p99_verdict")])
        self.assertIn("100 requests a round", now["compared"]["p99_unjudged"])
        self.assertEqual(now["verdict"], now["compared"]["p50_verdict"])
        self.assertEqual((None, "unjudged"), (new["compared"], new["verdict"]))
        then, = self.query("count", "--repeats", 6, "--count", 100, *CALM)
        self.write("many.json", json.dumps(self.said))
        now, = self.query("count", "--repeats", 6, "--count", 100, "--compare", "many.json", *CALM)
        self.is_ratio(ratios.of_runs(self.times(now, "p99_ms"), self.times(then, "p99_ms")), now["compared"], "p99")
        text = self.tipple(*self.query_words("count", "sums", "--repeats", 6, "--compare", "old.json", *CALM)).stdout.decode()
        self.assertRegex(text, r"(?m)^compared +baseline p50 +p50 +ratio +from +to$")
        self.assertRegex(text, r"(?m)^count +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +(slower|faster|undecided)$")
        self.assertRegex(text, r"(?m)^sums +- +[\d.]+ +- +- +- +new$")
        text = self.tipple(*self.query_words("count", "--repeats", 6, "--count", 100, "--compare", "many.json", *CALM)).stdout.decode()
        self.assertRegex(text, r"(?m)^compared +baseline p99 +p99 +ratio +from +to$")
        then["disturbed"] = True
        self.write("old.json", json.dumps(self.said | {"queries": [then]}))
        now, = self.query("count", "--repeats", 6, "--compare", "old.json", "--fail-if", "p50>50x", *CALM, status=6)
        self.assertIn("cannot be judged: the earlier run was disturbed", now["missed"])
        del then["rounds"]
        self.write("old.json", json.dumps(self.said | {"queries": [then]}))
        done = self.tipple(*self.query_words("count", "--compare", "old.json"), status=1)
        self.assertIn("old.json has no rounds", done.stderr)

    def test_against(self):
        """--against: another suite or target in turns, half of the requests each, never long the same one; compared by pairs
        of rounds, whatever else is running"""
        self.write("y.yaml", SUITE.replace("least: 0", "least: 400"))
        self.profiled()
        now, = self.query("count", "--repeats", 6, "--count", 120, "--warmup", 0, "--against", "./y.yaml")
        asked = [command["pipeline"][0]["$match"]["n"]["$gte"] for command in self.profiled()
                 if {"$count": "there"} in command.get("pipeline", ())]
        self.assertEqual([720, 720], [asked.count(0), asked.count(400)])
        self.assertGreater(sum(one != other for one, other in zip(asked, asked[1:])), 40)
        other, = self.said["against"]["queries"]
        self.assertEqual([[{"there": 1000}], [{"there": 600}], None], [now["result"], other["result"], other.get("compared")])
        self.assertEqual([[120] * 6] * 2, [self.times(now, "n"), self.times(other, "n")])
        self.assertEqual(("numbers", now["compared"]["then_p99_ms"]), (self.said["against"]["suite"], other["p99_ms"]))
        for key in "p50", "p99":
            self.is_ratio(ratios.in_turns(self.times(now, key + "_ms"), self.times(other, key + "_ms")), now["compared"], key)
        self.client.insert(self.database, "others", [{"_id": number, "n": number} for number in range(20)])
        uri = self.uri().replace("results", "others")
        for words, status in ((("--fail-if", "p50>100x"), 0), (("--fail-if", "p50<100x"), 6)):
            first, = self.query("count", "--repeats", 6, "--count", 4, "--against", uri, *words, status=status)
            other, = self.said["against"]["queries"]
            self.assertEqual([{"there": 20}], other["result"])
        self.assertTrue(self.said["against"]["namespace"].endswith(".others"))
        self.assertIn("times as long as that of --against", first["missed"])
        text = self.tipple(*self.query_words("count", "--repeats", 6, "--against", uri)).stdout.decode()
        self.assertRegex(text, r"(?m)^in turns with \S+\.others, suite numbers ")
        self.assertRegex(text, r"(?m)^count +[\d.]+ +[\d.]+ .* (slower|faster|undecided)(, disturbed)?$")

    def test_against_mistakes(self):
        """--against: what cannot be compared is refused before anything is measured"""
        self.write("y.yaml", SUITE.replace("name: first", "name: last"))
        self.write("z.yaml", SUITE.replace("[1, 2, 3]", "[1, 2, 4]"))
        for words, said in ((("--against", "./y.yaml"), "not those of --suite"), (("--against", "./z.yaml", "first"), "not those of"),
                            (("--against", "./nothere.yaml"), "--against: the suite file ./nothere.yaml"),
                            (("--against", self.uri() + "2", "count"), "--against: "),
                            (("--against", "./y.yaml", "first"), "no query or tag 'first'"),
                            (("--against", "./y.yaml", "--compare", "x.json"), "--against")):
            done = self.tipple(*self.query_words(*words), status=1)
            self.assertIn(said, done.stderr)

    def test_compare_others(self):
        """the same name is another question by another parameter, also one that no `each` has; another collection or
        suite is warned of"""
        self.client.insert(self.database, "others", [{"_id": number, "n": number} for number in range(10)])
        self.query("count", "one", "--repeats", 3, "--count", 1, *CALM)
        self.write("old.json", json.dumps(self.said))
        then = self.said["queries"]
        now = self.query("count", "one", "--repeats", 3, "--count", 1, "--compare", "old.json")
        self.assertEqual([each["question"] for each in then], [each["question"] for each in now])
        self.assertEqual([None, None], [each["compared"]["obstacle"] for each in now])
        words = ["count", "--repeats", 3, "--param", "least=990", "--compare", "old.json"]
        other, = self.query(*words)
        known = {"obstacle": "another question", "then_p50_ms": then[0]["p50_ms"], "p50_verdict": "unjudged", "p99_verdict": "unjudged",
                 "p50_unjudged": "another question", "p99_unjudged": "another question"}
        self.assertEqual(known, {key: value for key, value in other["compared"].items() if value and key != "disturbed"})
        self.assertNotEqual(then[0]["question"], other["question"])
        self.assertIn(b"another question", self.tipple(*self.query_words(*words)).stdout)
        self.client.command(self.database, {"delete": "results", "deletes": [{"q": {}, "limit": 0}]})
        self.client.insert(self.database, "results", [{"_id": 1}])
        words = ["count", "--repeats", 3, "--count", 1]
        now, = self.query(*words, "--compare", "old.json")
        self.assertEqual(["another answer", None], [now["compared"][key] for key in ("obstacle", "p50_ratio")])
        self.write("none.json", json.dumps(self.said))
        now, = self.query(*words, "--compare", "none.json")  # nothing both times: it is the same question still
        self.assertIsNone(now["compared"]["obstacle"])


class While(Query):

    def test_open_loop_answer(self):
        """--rate: the answer that is shown is that of the first request, whichever of the clients sent it"""
        for each in self.query("first", "--repeats", 1, "--warmup", 0, "--clients", 40, "--rate", 10,
                               "--duration", "200ms", "--answers"):
            self.assertEqual(each["with"], "size=%d" % len(each["result"]))

    def test_while(self):
        """--while: it runs next to the measurements and is asked to end afterwards; one that ended early is reported"""
        command = "trap 'echo asked >> ended; exit 0' TERM; echo begun >> began; while :; do sleep 0.05; done"
        self.query("one", "--duration", "2s", "--while", command)
        self.assertEqual(b"begun\n", (self.folder / "began").read_bytes())
        self.assertEqual(b"asked\n", (self.folder / "ended").read_bytes())
        self.assertIsNone(self.said["while_ended"])
        self.query("one", "--duration", "1s", "--while", "exit 3", status=6)
        self.assertEqual("with status 3", self.said["while_ended"])
        self.assertIn("--while failed with status 3", self.stderr)
        self.query("one", "--duration", "1s", "--while", "true")
        self.assertEqual("with status 0", self.said["while_ended"])
        self.assertIn("ended with status 0", self.stderr)

    def test_while_is_killed(self):
        """the command of --while is asked to end where nothing else can do it: tipple was killed"""
        command = "sh -c \"trap 'echo asked >> ended; exit 0' TERM; echo begun >> began; while :; do sleep 0.05; done\"; true"
        process = subprocess.Popen(self.command(*self.query_words("count", "--duration", "1h", "--while", command)),
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        self.assertTrue(livetest.wait_for((self.folder / "began").exists))
        process.kill()
        process.wait()
        self.assertTrue(livetest.wait_for((self.folder / "ended").exists, 20))

    def test_shortest_duration(self):
        """a duration of which no nanosecond is left for a round: each sends one request, and ends"""
        for words in (["--repeats", 2], ["--rate", 1000, "--repeats", 2], ["--repeats", 50, "--warmup", 0]):
            self.query("one", "--duration", "0.005us", *words)
            self.assertGreaterEqual(self.said["queries"][0]["n"], 2, words)

    def test_outputs(self):
        """--answers prints documents; --explain sends nothing"""
        text = self.tipple(*self.query_words("first", "--answers", "--repeats", 1)).stdout.decode()
        self.assertIn('{ "_id" : 2 }', text)
        self.profiled()
        text = self.tipple(*self.query_words("first", "count", "--explain")).stdout.decode()
        self.assertEqual(1, text.count("what would be sent"))
        pipeline = re.search(r"(?m)^  pipeline  (.*)$", text).group(1)
        pasted = json.loads(self.tipple("query", "--json", "--uri", self.uri(), pipeline).stdout)
        self.assertEqual([{"there": self.COUNT}], pasted["queries"][0]["result"])
        self.assertIn('"limit" : 3', text)
        self.assertEqual([], self.finds())

    def test_nothing_found(self):
        """what found nothing is marked in the table and in --json; what finds something at times, too"""
        self.write("x.yaml", FOUND)
        found = {entry["name"] + entry["with"]: entry for entry in self.query("all", "--repeats", 4, "--warmup", 0)}
        self.assertEqual([("alln=1", 4, 4, 0, False), ("alln=5000", 0, 4, 4, True)],
                         [(name, found[name]["returned"], found[name]["n"], found[name]["empty"], found[name]["nothing_found"])
                          for name in sorted(found) if name.startswith("all")])
        some = self.query("some", "--duration", "200ms", "--repeats", 2)[0]
        self.assertEqual(some["n"], some["returned"] + some["empty"])
        self.assertTrue(some["returned"] and some["empty"] and not some["nothing_found"], some)
        text = self.tipple(*self.query_words("all", "--repeats", 4)).stdout.decode()
        self.assertRegex(text, r"(?m)^all +n=1 +4 +(?:disturbed +)?[\d.]+")
        self.assertRegex(text, r"(?m)^all +n=5000 +4 +empty +[\d.]+")
        self.assertRegex(text, r"(?m)^all n=1 .* 2702$")
        self.assertRegex(text, r"(?m)^all n=5000 .* 3$")
        self.assertIn("all n=5000: nothing came back", text)
        self.assertNotIn("all n=1:", text)
        self.tipple(*self.query_words("all", "--repeats", 4, "--report", "all.html"))
        said = [line for line in livereport.Page(self.folder / "all.html").notes if "nothing came back" in line]
        self.assertEqual(["all n=5000"], [line.partition(":")[0] for line in said])
        text = self.tipple(*self.query_words("some", "--duration", "200ms", "--repeats", 2)).stdout.decode()
        self.assertRegex(text, r"(?m)^some: nothing .* [1-9]\d? % ")
        self.assertEqual(1, text.count("nothing came back"))

    def test_published(self):
        """--json has what the suite's tables have as published next to a measurement"""
        self.write("x.yaml", FOUND)
        self.assertEqual([{"mean_ms": "2702"}, {"mean_ms": "3"}], [entry["published"] for entry in self.query("all")])
        self.assertEqual([None] * 2, [entry["published"] for entry in self.query("some", "--duration", "50ms", "--repeats", 1)])
        self.write("x.yaml", SUITE)
        entry, = self.query("count")
        self.assertIsNone(entry["published"])
        source = (live.ROOT / "src/query/suite/suite.c").read_text()
        figures = re.findall(r'"(\w+)"', source.partition("const figures[] = {")[2].partition("}")[0])
        self.assertLess(10, len(figures))
        self.assertEqual(set(), set(figures) - set(entry))

    def test_explained(self):
        """explain: yes: what the server says of a find, once, after the rounds"""
        self.write("x.yaml", FOUND)
        self.profiled()
        self.query("all", "--repeats", 3, "--warmup", 1)
        asked = [next(iter(command)) for command in self.profiled()
                 if command.get("find") == "results" or "explain" in command]
        self.assertEqual(["find"] * 8 + ["explain"] * 2, asked)
        for entry, n in zip(self.said["queries"], (1, 0)):
            explained = entry["explained"]
            self.assertEqual((n, 0, self.COUNT, 1), tuple(explained[key] for key in (
                "returned", "keys_examined", "documents_examined", "shards")))
            self.assertGreaterEqual(explained["ms_of_a_shard"], 0)
        text = self.tipple(*self.query_words("all", "--repeats", 1)).stdout.decode()
        self.assertRegex(text, r"(?m)^all +n=1 +1 +0 +1,000 +1 +\d+ +\d+$")
        self.assertIsNone(self.query("some", "--duration", "50ms", "--repeats", 1)[0]["explained"])

    def test_own_clients(self):
        """a query's own numbers of clients come before the suite's; those of the command line before both"""
        self.write("x.yaml", FOUND.replace("queries:", "run: {clients: [3]}\nqueries:", 1))
        words = ("--duration", "50ms", "--repeats", 1)
        self.assertEqual([("all", 3), ("all", 3), ("some", 1), ("some", 4)],
                         [(entry["name"], entry["clients"]) for entry in self.query(*words)])
        self.assertEqual([("some", 2)], [(entry["name"], entry["clients"]) for entry in self.query(
            "some", "--clients", 2, *words)])
        # each needs a connection: none waits for another
        self.write("x.yaml", FOUND.replace("[1, 4]", "[70]"))
        self.assertEqual([70], [entry["clients"] for entry in self.query("some", *words)])


if __name__ == "__main__":
    os.environ.pop("TIPPLE_URI", None)
    livetest.main()
