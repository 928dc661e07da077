"""Each mistake of tests/sim/mutants.txt can still be put into the code: tools/test tries a few of them."""
import importlib.machinery
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("simulate", str(ROOT / "tools/simulate"))
simulate = importlib.util.module_from_spec(importlib.util.spec_from_loader("simulate", LOADER))
LOADER.exec_module(simulate)


class Mutants(unittest.TestCase):
    def test_apply(self):
        """the line is in its file, once, and the new one is another"""
        mutants = simulate.mutants()
        self.assertGreaterEqual(len(mutants), 20)
        for mutant in mutants:
            with self.subTest(mutant.brings):
                self.assertIsNotNone(simulate.mutate(mutant), "not once in %s: %s" % (mutant.path.name, mutant.old))
                self.assertNotEqual(mutant.old, mutant.new)


if __name__ == "__main__":
    unittest.main()
