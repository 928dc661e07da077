"""tools/test --coverage: what is made of what gcov says."""
import collections
import contextlib
import io
import pathlib
import tempfile
import unittest
from unittest import mock

import coverage
from coverage import ROOT


def report(**files):
    return {"current_working_directory": str(ROOT / "build"),
            "files": [{"file": str(ROOT / name.replace("__", "/").replace("_c", ".c")),
                       "lines": [{"line_number": line, "count": count} for line, count in lines.items()]}
                      for name, lines in files.items()]}


def main_of(lines):
    said = io.StringIO()
    with mock.patch.object(coverage, "measure", lambda tree: lines), contextlib.redirect_stdout(said):
        return coverage.main("tree"), said.getvalue()


class Coverage(unittest.TestCase):
    def test_lines_of_several_objects(self):
        """a line was run if any object ran it; what is not in src does not count"""
        lines = collections.defaultdict(dict)
        coverage.read(report(src__base__a_c={1: 0, 2: 5}, src__load__b_c={7: 1}, tests__x_c={1: 1}), lines)
        coverage.read(report(src__base__a_c={1: 3, 2: 0, 3: 0}), lines)
        self.assertEqual({"base/a.c": {1: 3, 2: 5, 3: 0}, "load/b.c": {7: 1}}, dict(lines))
        self.assertEqual({"base": (2, 3), "load": (1, 1)}, coverage.by_folder(lines))

    def test_files_that_are_gone(self):
        """what an earlier build has left of a file that is not there any more does not count"""
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder).resolve()
            for name in ("library.dir/src/base/err.c", "library.dir/src/base/gone.c", "tests/simulate.dir/__/src/base/err.c",
                         "tests/test_err.dir/unit/test_err.c"):
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                (tree / (name + ".gcno")).touch()
            self.assertEqual([str(tree / "library.dir/src/base/err.c.gcno"),
                              str(tree / "tests/simulate.dir/__/src/base/err.c.gcno")], coverage.notes(tree))

    def test_goals(self):
        """status 1 just where a folder or all is below its goal, which says how many lines more"""
        whole = {folder + "/a.c": {line: 1 for line in range(100)} for folder in coverage.GOALS}
        self.assertEqual(0, main_of(whole)[0])
        at_goal = dict(whole, **{"load/a.c": {line: line < 85 for line in range(100)}})
        self.assertEqual(0, main_of(at_goal)[0])
        below = dict(whole, **{"load/a.c": {line: line < 84 for line in range(100)}})
        status, said = main_of(below)
        self.assertEqual(1, status)
        self.assertIn("load is under 85 %: 1 lines more; the most are not run in load/a.c 16", said)
        large = dict(whole, **{"cli/a.c": {line: 0 for line in range(1000)}})
        status, said = main_of(large)
        self.assertEqual(1, status)
        self.assertIn("all of src is under 60 %: 360 lines more; the most are not run in cli/a.c 1000", said)

    def test_folder_that_is_gone(self):
        status, said = main_of({"base/a.c": {1: 1}})
        self.assertEqual(1, status)
        self.assertIn("verify is under 85 %", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
