#!/usr/bin/env python3
"""Generated rows of every release against an independent reader of what the published files allow."""
import pathlib
import tempfile
import unittest

import mot_rows_check
from running import NIGHTLY, generated

ROWS = 60000 if NIGHTLY else 5000


class Rows(unittest.TestCase):
    def test_every_release(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rows"
            for release in ("2013", "2016", "2017-first", "2017", "2020", "2021", "2023", "2024"):
                with self.subTest(release):
                    path.write_bytes(generated("mot", "--rows", str(ROWS), "--seed", "7", "--release", release))
                    self.assertEqual([], mot_rows_check.violations(path, release, ROWS))


if __name__ == "__main__":
    unittest.main()
