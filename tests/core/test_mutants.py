"""Each mistake of tests/sim/mutants.txt and tests/mutants can still be put into the code, and the tests that see it exist."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lib"))
import mutant  # noqa: E402

FILES = [ROOT / "tests/sim/mutants.txt", *sorted((ROOT / "tests/mutants").glob("*.txt"))]


def exists(test):
    """Is there a test with this name, such as core.hist?"""
    kind, _, name = test.partition(".")
    return any((ROOT / "tests" / path).exists() for path in (
        "%s/test_%s.c" % (kind, name), "live/%s.c" % name, "cli/cases/%s.case" % name, "cli/tables/%s.table" % name))


class Mutants(unittest.TestCase):
    def test_apply(self):
        """the line is in its file, once, and the new one is another"""
        for path in FILES:
            mutants = mutant.read(path)
            self.assertGreaterEqual(len(mutants), 10)
            for each in mutants:
                with self.subTest(each.brings):
                    self.assertIsNotNone(each.text(), "not once in %s: %s" % (each.path.name, each.old))

    def test_by(self):
        """there are tests that see it"""
        for path in FILES[1:]:
            for each in mutant.read(path):
                with self.subTest(each.brings):
                    self.assertEqual(".c", each.path.suffix)  # tools/mutants compiles it alone
                    self.assertTrue(each.by)
                    self.assertEqual([], [test for test in each.by if not exists(test)])


if __name__ == "__main__":
    unittest.main()
