"""What tools/fuzz reads from what libFuzzer says, and how runs add up."""
import importlib.machinery
import importlib.util
import os
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["TIPPLE_ROOT"])
LOADER = importlib.machinery.SourceFileLoader("fuzz", str(ROOT / "tools/fuzz"))
fuzz = importlib.util.module_from_spec(importlib.util.spec_from_loader("fuzz", LOADER))
LOADER.exec_module(fuzz)

SAID = """INFO: seed corpus: files: 54 min: 20b max: 208b total: 4832b rss: 40Mb
#54\tINITED cov: 1385 ft: 3678 corp: 51/4624b exec/s: 0 rss: 64Mb
#57\tNEW    cov: 1387 ft: 3708 corp: 53/4764b lim: 208 exec/s: 0 rss: 65Mb L: 20/208 MS: 1 ChangeByte-
#6000\tDONE   cov: 1387 ft: 6515 corp: 567/45Kb lim: 208 exec/s: 600 rss: 64Mb
artifact_prefix='/x/made-'; Test unit written to /x/made-slow-unit-1
stat::number_of_executed_units: 6001
"""


def portion(edges):
    return fuzz.Portion("made", pathlib.Path("fuzz_made"), 60, {"edges": edges, "quiet": 100.0})


class Listening(unittest.TestCase):
    def test_counts(self):
        one = portion(0)
        for line in SAID.splitlines(keepends=True):
            one.listen(line)
        self.assertEqual((one.inputs, one.edges, one.broken), (6001, 1387, None))
        self.assertLess(one.quiet(), 100)

    def test_no_new_edge(self):
        one = portion(1387)
        for line in SAID.splitlines(keepends=True):
            one.listen(line)
        self.assertEqual(one.edges, 1387)
        self.assertGreaterEqual(one.quiet(), 100)

    def test_what_breaks_it(self):
        for kind in ("crash", "leak", "timeout", "oom"):
            one = portion(0)
            one.listen("artifact_prefix='/x/made-'; Test unit written to /x/made-%s-5f\n" % kind)
            self.assertEqual(one.broken, "/x/made-%s-5f" % kind)


class Adding(unittest.TestCase):
    def test_runs_add_up(self):
        with tempfile.TemporaryDirectory() as folder:
            fuzz.TOTALS = pathlib.Path(folder) / "totals"
            run = fuzz.Run.__new__(fuzz.Run)
            run.kept = type("Kept", (), {"digests": {"made": "a"}})()
            run.lock, run.broken = fuzz.threading.Lock(), {}
            run.here = {"made": {"inputs": 0, "cpu": 0.0, "edges": 0, "quiet": 0.0}}
            for _ in range(2):
                one = portion(0)
                one.listen("#70\tDONE   cov: 7 ft: 7 corp: 1/1b\n")
                one.cpu = 30.0
                run.going = {"made": one}
                run.account(one)
            total = fuzz.Totals.read("made")
            self.assertEqual((total["inputs"], total["cpu"], total["edges"]), (140, 60.0, 7))
            run.kept.digests["made"] = "b"  # built anew: its edges are counted anew, what was run stays
            self.assertEqual([run.total("made")[name] for name in ("inputs", "edges", "quiet")], [140, 0, 0.0])


if __name__ == "__main__":
    unittest.main()
