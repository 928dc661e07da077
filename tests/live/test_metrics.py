"""--metrics: what programs read of a command while it runs and after its end.  needs: replset; nightly on: standalone"""
import json
import os
import re
import signal
import time
import urllib.parse

import live
import livetest

LABELS = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\["\\n])*)"')
KEYS = ["time", "command", "namespace", "phase", "running", "records_total", "documents_total", "bytes_total", "expected_bytes",
        "rejects_total", "documents_per_second", "replication_lag_seconds", "last_status", "last_end_timestamp_seconds"]


class Metrics(livetest.Case):
    def read(self, name="m.prom"):
        """Prometheus' text, word by word: the values by their names without tipple_, and the labels."""
        with open(os.path.join(self.folder, name)) as file:
            text = file.read()
        self.assertEqual("\n", text[-1:])
        lines, found, common = text[:-1].split("\n"), {}, None
        self.assertEqual(0, len(lines) % 3, text)
        for words, kind, value in zip(lines[::3], lines[1::3], lines[2::3]):
            name = re.fullmatch(r"# HELP tipple_([a-z_]+) [^\\]+\.", words)[1]
            self.assertEqual("# TYPE tipple_%s %s" % (name, "counter" if name.endswith("_total") else "gauge"), kind)
            labels, number = re.fullmatch(r"tipple_%s\{(.*)\} (\d+(?:\.\d+)?(?:e[+-]\d+)?)" % name, value).groups()
            self.assertEqual(labels, ",".join('%s="%s"' % pair for pair in LABELS.findall(labels)))
            labels = dict(LABELS.findall(labels))
            if name == "phase":
                found["phase"] = labels.pop("phase")
                self.assertEqual("1", number)
            else:
                self.assertNotIn(name, found)
                found[name] = float(number)
            self.assertEqual(common or labels, labels)
            common = labels
        self.assertEqual({"command", "namespace"}, set(common))
        return found, common

    def ended(self, status, name="m.prom"):
        found, labels = self.read(name)
        self.assertEqual((0, status), (found["running"], found["last_status"]))
        self.assertLess(abs(found["last_end_timestamp_seconds"] - time.time()), 600)
        for gone in ("phase", "documents_per_second", "replication_lag_seconds"):
            self.assertNotIn(gone, found)
        self.assertEqual([name], [each for each in os.listdir(self.folder) if each.startswith(name)])
        return found, labels

    def begin(self):
        """A load that has loaded something and waits for more."""
        load = self.start_held("--input-name", "x", "--metrics", "m.prom")
        load.stdin.write(livetest.rows(20000, bad=(5,)))
        load.stdin.flush()
        self.assertTrue(livetest.wait_for(lambda: os.path.exists(os.path.join(self.folder, "m.prom")) and
                                          self.read()[0].get("documents_total", 0) > 0))
        return load

    def test_load(self):
        """a file that is whole at each moment, and in the end has the figures of the result"""
        load = self.begin()
        for _ in range(200):
            found, labels = self.read()
            time.sleep(0.01)
        self.assertEqual((1, "loading"), (found["running"], found["phase"]))
        self.assertEqual({"command": "load", "namespace": "%s.results" % self.database}, labels)
        self.assertNotIn("last_status", found)
        if self.client.command("admin", {"hello": 1}).get("setName"):
            self.assertTrue(livetest.wait_for(lambda: "replication_lag_seconds" in self.read()[0]))
        said = json.loads(load.communicate()[0])
        found, _ = self.ended(2)
        self.assertEqual([said["read"], said["loaded"], said["rejected"], said["bytes_read"]],
                         [found[name + "_total"] for name in ("records", "documents", "rejects", "bytes")])
        self.assertEqual((20000, 1), (found["records_total"], found["rejects_total"]))

    def test_ends(self):
        """the status of a load that was interrupted, of one without a server, and of one that is refused"""
        load = self.begin()
        load.send_signal(signal.SIGINT)
        load.communicate()
        self.assertEqual(130, livetest.ending(load.returncode))
        self.assertGreater(self.ended(130)[0]["documents_total"], 0)
        self.write("a.csv", livetest.rows(10))
        self.tipple("load", "-f", "mot", "a.csv", "--uri", "mongodb://127.0.0.1:1/d.c", "--patience", "10ms", "--metrics", "m.prom",
                    status=4)
        self.assertEqual("d.c", self.ended(4)[1]["namespace"])
        self.load("none.csv", "--metrics", "m.prom", status=5)
        self.assertNotIn("records_total", self.ended(5)[0])
        for name, status in (("none/m.prom", 1), ("/dev/stdout", 1), ("none/m.jsonl", 1)):
            self.refused("--metrics: %s " % name, "a.csv", "--metrics", name, status=status)

    def test_others(self):
        """verify and drill; a namespace with signs that labels escape"""
        self.write("a.csv", livetest.rows(300, bad=(5,)))
        uri = self.uri(urllib.parse.quote('o"d\\d'))
        self.tipple("load", "-f", "mot", "a.csv", "--uri", uri, status=2)
        self.tipple("verify", "-f", "mot", "a.csv", "--uri", uri, "--metrics", "m.prom")
        found, labels = self.ended(0)
        self.assertEqual({"command": "verify", "namespace": '%s.o\\"d\\\\d' % self.database}, labels)
        self.assertEqual((300, 299, 1), tuple(found[name + "_total"] for name in ("records", "documents", "rejects")))
        self.tipple("drill", "-f", "mot", "a.csv", "--uri", self.uri(), "--no-predict", "--metrics", "m.prom", status=2)
        found, labels = self.ended(2)
        self.assertEqual({"command": "drill", "namespace": "%s.results" % self.database}, labels)
        self.write("t.yaml", "- {collection: %s.two, files: a.csv, format: mot}\n" % self.database)
        server = live.with_path(live.URI, "")
        self.tipple("drill", "--targets", "t.yaml", "--uri", server, "--no-predict", "--metrics", "m.prom", status=2)
        self.assertEqual("%s.two" % self.database, self.ended(2)[1]["namespace"])

    def test_lines(self):
        """lines of JSON: of one command after another, and no count ever falls within one"""
        self.write("a.csv", livetest.rows(6000))
        self.load("a.csv", "--max-rate", "1500", "--metrics", "m.jsonl")
        self.tipple("verify", *self.words("a.csv", "--metrics", "m.jsonl")[1:])
        with open(os.path.join(self.folder, "m.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual({tuple(KEYS)}, {tuple(line) for line in lines})
        load = [line for line in lines if line["command"] == "load"]
        self.assertEqual({"loading"}, {line["phase"] for line in load} & {"loading"})
        counts = [line["documents_total"] or 0 for line in load]
        self.assertEqual(sorted(counts), counts)
        self.assertGreater(len(set(counts)), 2)
        self.assertEqual([(6000, 0), (6000, 0)], [(line["documents_total"], line["last_status"]) for line in lines
                                                  if not line["running"]])
        self.assertEqual({None}, {line["last_status"] for line in lines if line["running"]})


livetest.main()
