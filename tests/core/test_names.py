"""tools/test NAME: which tests a name means, what they need to be built, and what is said of a name that none has."""
import os
import pathlib
import subprocess
import unittest

import testnames
from testnames import ROOT

NAMES = ["unit.hashed", "unit.chunkmap", "unit.driver", "unit.drill", "unit.fuzz", "fuzz.chunkmap", "sim.kept", "package",
         "live.standalone.test_query", "live.replset.test_query", "live.standalone.keys_test", "live.test_drill",
         "fault.disk", "oracle.isd_reader"]
TESTS = sorted([testnames.of_name(name) for name in NAMES] +
               [test for test in testnames.golden() if test.name in ("cli.parse-mot", "cli.help", "cli.verify")])


def names(word):
    return [test.name for test in testnames.matching(TESTS, word)]


class Names(unittest.TestCase):
    def test_meant(self):
        """an exact name wins, with or without what stands before it; then kinds, files, regular expressions"""
        for word, meant in (("unit.hashed", ["unit.hashed"]), ("hashed", ["unit.hashed"]),
                            ("drill", ["live.test_drill", "unit.drill"]),
                            ("query", ["live.replset.test_query", "live.standalone.test_query"]),
                            ("live.replset.test_query", ["live.replset.test_query"]),
                            ("keys_test", ["live.standalone.keys_test"]), ("fuzz", ["fuzz.chunkmap"]),
                            ("disk", ["fault.disk"]), ("sim", ["sim.kept"]), ("parse-mot", ["cli.parse-mot"]),
                            ("cli", ["cli.help", "cli.parse-mot", "cli.verify"]),
                            ("tests/unit/test_hashed.c", ["unit.hashed"]),
                            (str(ROOT / "tests/cli/cases/help.case"), ["cli.help"]),
                            ("^unit[.].*h", ["unit.chunkmap", "unit.hashed"]), ("package", ["package"])):
            with self.subTest(word):
                self.assertEqual(meant, names(word))

    def test_unknown(self):
        """a sentence with the nearest names, and with tests of which a part is called so"""
        for word, said in (("hashd", "there is no test hashd; did you mean unit.hashed?"),
                           ("unit.hased", "did you mean unit.hashed?"), ("parse-mto", "did you mean cli.parse-mot?"),
                           ("large_map", "unit.chunkmap has test_large_map"), ("(", "no regular expression"),
                           ("qqqqqqqq", "there is no test qqqqqqqq; tools/test --list has all names")):
            with self.subTest(word), self.assertRaises(testnames.Unknown) as caught:
                testnames.matching(TESTS, word)
            self.assertIn(said, str(caught.exception))

    def test_needs(self):
        """what is built for a test, and whether it needs a server; each once"""
        for words, lines in ((["hashed"], ["build test_hashed", "test unit.hashed"]),
                             (["unit.driver"], ["build tipple", "test unit.driver"]),
                             (["keys_test"], ["build live_keys_test", "build tipple", "server",
                                              "test live.standalone.keys_test"]),
                             (["parse-mot", "cli.parse-mot"], ["build tipple", "case parse-mot"]),
                             (["cli.verify"], ["build tipple", "server", "case verify"]),
                             (["disk"], ["build fault_shim", "build labrouter", "build tipple", "build tipple_faulty",
                                         "server", "test fault.disk"])):
            with self.subTest(words):
                self.assertEqual(lines, testnames.plan(testnames.unite(TESTS, words)))

    def test_every_file_is_found(self):
        """each test of this tree is a file that is there"""
        for test in TESTS:
            self.assertTrue((ROOT / test.path).exists() and test.path != "tests", test)
        self.assertEqual(("tests", ("all",)), testnames.of_name("unit.never-there")[1:3])


class Said(unittest.TestCase):
    def run_it(self, *words):
        return subprocess.run(["python3", ROOT / "tools/lib/testnames.py", pathlib.Path(os.environ["TIPPLE"]).parent, *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)

    def test_list(self):
        done = self.run_it("--list")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertGreater(done.stdout.count("\n"), 250)
        self.assertIn("tests/unit/test_hashed.c", self.run_it("--list", "hashed").stdout)
        self.assertIn("unit.chunkmap", self.run_it("--list", "large_map").stdout)

    def test_misspelt(self):
        done = self.run_it("hashd")
        self.assertEqual((2, ""), (done.returncode, done.stdout))
        self.assertEqual("tools/test: there is no test hashd; did you mean unit.hashed?; tools/test --list has all names\n",
                         done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
