"""Each mistake of tests/sim/mutants.txt can still be put into the code: tools/test tries a few of them."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lib"))
import mutant  # noqa: E402


class Mutants(unittest.TestCase):
    def test_apply(self):
        """the line is in its file, once, and the new one is another"""
        mutants = mutant.read(ROOT / "tests/sim/mutants.txt")
        self.assertGreaterEqual(len(mutants), 20)
        for each in mutants:
            with self.subTest(each.brings):
                self.assertIsNotNone(each.text(), "not once in %s: %s" % (each.path.name, each.old))


if __name__ == "__main__":
    unittest.main()
