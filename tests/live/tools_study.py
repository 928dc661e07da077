"""tools/study: each study runs, prints the published figures beside ours, and leaves nothing running.
needs: none; nightly: the studies run"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIPPLE = os.environ.get("TIPPLE") or str(ROOT / "build/release/tipple")
# what must stand in a study's table: published figures, word by word
STUDIES = {"compression": ["configuration, ", "| zstd, prefix", "1406.92"],
           "isd": ["Left out at this scale", "0.742", "Miami", "10.33 h", "5 min", "one server, no journal"],
           "secondaries": ["published off", "95th percentile", "Replication lag"],
           "ycsb": ["7,170,648,489", "844", "30,747", "2,702", "5,160,596", "FindOne", "spinning disks", "Not made: the mix"],
           "mot": ["28.5", "15:31", "0.67", "48:47", "2 shards, 7 MB each", "16 shards, 2 MB (query 3:35, load 66 min)"],
           "obd": ["0.08 σ 0.09", "62.7 σ 0.5", "8.08", "30.8", "126.1 σ 45.2", "43.1"]}


def processes_below(folder):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if str(folder).encode() in words:
            found.append(words.replace(b"\0", b" ")[:200])
    return found


class Study(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.getcwd())
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def study(self, *words, status=0):
        done = subprocess.run([sys.executable, ROOT / "tools/study", *words, "--dir", self.folder],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900,
                              env={**os.environ, "TIPPLE": TIPPLE})
        self.assertEqual(status, done.returncode, done.stderr)
        return done

    def test_tables(self):
        """all studies, tiny: their tables fit on a screen and name their articles, and nothing is left of them"""
        said = self.study("all", "--scale", "tiny").stdout
        for name, wanted in STUDIES.items():
            with self.subTest(study=name):
                table = (self.folder / name / "table.md").read_text()
                self.assertIn(table, said)
                for words in [*wanted, "tools/study %s, after \"" % name, "**"]:
                    self.assertIn(words, table.replace("\n", " "))
                self.assertEqual([], [line for line in table.splitlines() if len(line) > 80 and "https:" not in line])
                self.assertIn("<table>", (self.folder / name / "report.html").read_text())
                self.assertEqual([], processes_below(self.folder))
                self.assertEqual([], list((self.folder / name).glob("servers-*")))


if __name__ == "__main__":
    unittest.main()
