"""tools/test --changed: from files that differ to the tests that can see it."""
import os
import pathlib
import re
import shutil
import tempfile
import unittest
import unittest.mock

import changed
import linked
import testnames
from testnames import ROOT

TREE = pathlib.Path(os.environ["TIPPLE"]).parent
TABLE = changed.read_table(changed.TABLE.read_text())
TESTS = testnames.of_build(str(TREE))
PROGRAMS = {"test_hashed": {"src/server/chunks/hashed.c", "src/base/err.h"}, "test_scan": {"src/base/err.h"},
            "simulate": {"src/base/err.h"}}
TEXTS = {"tests/lib/livetest.py": "import live\n", "tests/lib/livedrill.py": "import os\nfrom livetest import Books\n",
         "tests/live/test_drill.py": "import json, livedrill\n", "tests/live/test_query.py": "import liveother\n",
         "tests/live/test_retry.py": "import livetest\n"}


def holding(path):
    return {program for program, files in PROGRAMS.items() if path in files}


def chosen(*files):
    """{why: names, steps of tools/check among them}"""
    return {why: sorted([test.name for test in tests] + steps)
            for why, tests, steps in changed.choose(files, TESTS, TABLE, holding, TEXTS)}


def all_of(*files):
    return sorted(name for names in chosen(*files).values() for name in names)


class Mapping(unittest.TestCase):
    def test_tests_themselves(self):
        for file, names in (("tests/unit/test_scan.c", ["unit.scan"]),
                            ("tests/unit/test_fuzz.py", ["unit.fuzz"]),
                            ("tests/live/test_query.py", ["live.replset.test_query", "live.standalone.test_query"]),
                            ("tests/live/keys_test.c", ["live.standalone.keys_test"]),
                            ("tests/fault/test_disk.py", ["fault.disk"]),
                            ("tests/fuzz/fuzz_tar.c", ["fuzz.tar"]), ("tests/fuzz/corpus/tar/one", ["fuzz.tar"]),
                            ("tests/cli/cases/parse-mot.case", ["cli.parse-mot"]),
                            ("tests/unit/test_gone.c", []), ("LICENSE", [])):
            with self.subTest(file):
                self.assertEqual(names, all_of(file))

    def test_source(self):
        """unit tests and the simulator by what they hold, the others by the longest row of the table"""
        self.assertEqual({"their programs hold src/server/chunks/hashed.c": ["unit.hashed"],
                          "they see src/server/chunks from outside (tools/lib/folders.txt)":
                          ["fuzz.chunkmap", "live.standalone.keys_test", "live.test_load_cluster", "live.test_load_direct"]},
                         chosen("src/server/chunks/hashed.c"))
        held = chosen("src/base/err.h")["their programs hold src/base/err.h"]
        self.assertLessEqual({"unit.hashed", "unit.scan", "sim.kept", "sim.random"}, set(held))
        self.assertNotIn("unit.chunkmap", held)

    def test_once(self):
        """a test stands behind its first reason only, and a live test of two kinds of servers goes with one"""
        groups = chosen("tests/unit/test_hashed.c", "src/server/chunks/hashed.c")
        self.assertEqual(["unit.hashed"], groups["they were changed"])
        self.assertNotIn("their programs hold src/server/chunks/hashed.c", groups)
        self.assertIn("live.standalone.test_query", all_of("src/query/run.c"))
        self.assertNotIn("live.replset.test_query", all_of("src/query/run.c"))

    def test_docs_and_tools(self):
        self.assertLessEqual({"words", "links"}, set(all_of("docs/guide.md")))
        self.assertLessEqual({"words", "links"}, set(all_of("README.md")))
        self.assertEqual(["live.tools_server"], all_of("tools/lib/mongods.py"))
        self.assertEqual(["unit.growth"], all_of("tools/bench"))
        self.assertLessEqual({"unit.names", "unit.changed_files"}, set(all_of("tools/lib/some.sh")))

    def test_imports(self):
        """what a helper is imported by, also by way of another helper"""
        self.assertEqual({"they import tests/lib/livetest.py": ["live.standalone.test_retry", "live.test_drill"]},
                         chosen("tests/lib/livetest.py"))


class Table(unittest.TestCase):
    def test_rows(self):
        """each row is of something that is there, and each of its words means a test that is there"""
        for folder, words in TABLE.items():
            self.assertTrue((ROOT / folder).exists(), folder)
            for word in words:
                with self.subTest(folder, word=word):
                    if word.startswith("check:"):
                        self.assertIn("    %s)" % word[len("check:"):], (ROOT / "tools/check").read_text())
                    else:
                        self.assertTrue([test for test in TESTS if re.search(word, test.name)])

    def test_every_folder(self):
        """no source is without a row"""
        for path in (ROOT / "src").rglob("*.[ch]"):
            self.assertIsNotNone(changed.row_of(str(path.relative_to(ROOT)), TABLE)[0], path)


@unittest.skipUnless(shutil.which("git"), "there is no git")
class Lines(unittest.TestCase):
    def test_of_a_difference(self):
        said = ("--- a/src/a.c\n+++ b/src/a.c\n@@ -3 +3 @@ int f(\n-x\n+y\n@@ -9,0 +10,2 @@\n+p\n+q\n@@ -20,2 +22,0 @@\n-r\n"
                "--- a/src/b.c\n+++ b/src/b.c\n@@ -1 +0,0 @@\n-x\n")
        self.assertEqual([{"name": "src/a.c", "lines": [[3, 3], [10, 11]]}], changed.changed_lines(said))

    def test_of_a_moved_file(self):
        """its lines are no new ones"""
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(changed, "ROOT", folder):
            old, new = pathlib.Path(folder, "src/old.c"), pathlib.Path(folder, "src/new.c")
            old.parent.mkdir()
            lines = ["int number_%d;\n" % i for i in range(20)]
            old.write_text("".join(lines))
            for words in (["init", "-q"], ["add", "."],
                          ["-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "-m", "a"]):
                self.assertEqual(0, changed.git(*words).returncode, words)
            old.unlink()
            new.write_text("".join(lines[:6] + ["long other;\n"] + lines[7:]))
            changed.git("add", "-A")
            self.assertEqual([{"name": "src/new.c", "lines": [[7, 7]]}], changed.changed_lines(changed.difference("HEAD")))

    def test_no_base(self):
        with self.assertRaises(changed.NoBase) as caught:
            changed.base_of("no-such-commit")
        self.assertIn("there is no commit no-such-commit; name one", str(caught.exception))


class Linked(unittest.TestCase):
    DEPS = "a/x.c.o: #deps 2, deps mtime 1 (VALID)\n    /p/x.c\n    ../x.h\n\na/y.c.o: #deps 1, deps mtime 1 (VALID)\n    ../x.h\n"
    QUERY = ("tests/test_x:\n  input: LINK\n    tests/test_x.c.o\n    | libtipple.a\n  outputs:\n    test_x\n    other.o\n"
             "libtipple.a:\n  input: AR\n    a/x.c.o\n    a/y.c.o\n  outputs:\n    all\n")
    NM = "a/x.c.o: x T 0 1\na/x.c.o: y U\na/y.c.o: y T 0 1\na/y.c.o: own t 0 1\ntests/test_x.c.o: x U\ntests/test_x.c.o: printf U\n"

    def test_reading(self):
        made = linked.objects_of_files(self.DEPS, "/p/build")
        self.assertEqual({"a/x.c.o", "a/y.c.o"}, made["/p/x.h"])
        self.assertEqual({"a/x.c.o"}, made["/p/x.c"])
        own = linked.objects_of_programs(self.QUERY)
        self.assertEqual({"tests/test_x": ["tests/test_x.c.o"], "libtipple.a": ["a/x.c.o", "a/y.c.o"]}, own)
        needs = linked.needs_of_objects(self.NM)
        self.assertEqual({"tests/test_x.c.o", "a/x.c.o", "a/y.c.o"}, linked.reachable(own["tests/test_x"], needs))
        self.assertEqual({"a/y.c.o"}, linked.reachable(["a/y.c.o"], needs))

    @unittest.skipUnless((TREE / ".ninja_deps").exists() and (TREE / "tests/test_scan").exists(), "not a build by ninja")
    def test_of_this_build(self):
        """scan is linked into its own test, hashed into another one; err.h goes into both"""
        build = linked.Build(str(TREE), ["test_scan", "test_hashed"])
        for file, programs in (("src/format/cut/scan.c", {"test_scan"}), ("src/server/chunks/hashed.c", {"test_hashed"}),
                               ("tests/unit/test_scan.c", {"test_scan"}), ("src/server/chunks/hashed.h", {"test_hashed"})):
            with self.subTest(file):
                self.assertEqual(programs, build.holding(str(ROOT / file)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
