"""tools/study: each study runs, prints the published figures next to ours, and leaves nothing running.
needs: none; nightly: the studies run"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from tools_cluster import processes

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIPPLE = os.environ.get("TIPPLE") or str(ROOT / "build/release/tipple")
# what must stand in a study's table: published figures, word by word
STUDIES = {"compression": ["configuration, ", "| zstd, prefix", "1406.92", "random"],
           "isd": ["Left out at this scale", "0.742", "Miami", "10.33 h", "5 min", "one server, no journal"],
           "reload": ["one member first, its files copied", "copy the files to member 2", "until all have all"],
           "secondaries": ["published off", "95th percentile", "Replication lag"],
           "ycsb": ["25,000 operations a second", "7,170,648,489", "844", "30,747", "2,702", "5,160,596", "FindOne", "spinning disks", "Not made: the mix"],
           "mot": ["28.5", "15:31", "0.67", "48:47", "2 shards, 7 MB each", "16 shards, 2 MB (query 3:35, load 66 min)"],
           "obd": ["0.08 σ 0.09", "62.7 σ 0.5", "8.08", "30.8", "126.1 σ 45.2", "43.1", "published, 10^6", "by 4 clients"]}


class Study(unittest.TestCase):
    def test_tables(self):
        """all studies, tiny: their tables fit on a screen and name their articles, and nothing is left of them"""
        with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
            done = subprocess.run([sys.executable, ROOT / "tools/study", "all", "--scale", "tiny", "--dir", folder], timeout=900,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, env={**os.environ, "TIPPLE": TIPPLE})
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual([], [*processes(folder), *pathlib.Path(folder).glob("*/servers-*")])
            for name, wanted in STUDIES.items():
                with self.subTest(study=name):
                    table = pathlib.Path(folder, name, "table.md").read_text()
                    self.assertIn(table, done.stdout)
                    for words in [*wanted, "tools/study %s, after \"" % name, "**"]:
                        self.assertIn(words, table.replace("\n", " "))
                    self.assertEqual([], [line for line in table.splitlines() if len(line) > 80 and "https:" not in line])
                    self.assertIn("<table>", pathlib.Path(folder, name, "report.html").read_text())


if __name__ == "__main__":
    unittest.main()
