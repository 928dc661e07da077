"""tools/study: each study runs, prints the published figures next to ours, and leaves nothing running.
needs: none; nightly: the studies run"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

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
# and is not on its page, which has the means of the fewest and the most documents only
NOT_ON_PAGE = {"48:47", "0.08 σ 0.09", "62.7 σ 0.5", "126.1 σ 45.2", "30.8"}


def study(*words, tipple=TIPPLE):
    return subprocess.run([sys.executable, ROOT / "tools/study", *words], timeout=900, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, env={**os.environ, "TIPPLE": tipple})


class Study(unittest.TestCase):
    def test_tables(self):
        """all studies, tiny: their tables fit on a screen and name their articles, nothing is left of them, and pages are made"""
        with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
            done = study("all", "--scale", "tiny", "--dir", folder)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual([], [*processes(folder), *pathlib.Path(folder).glob("*/servers-*")])
            for name, wanted in STUDIES.items():
                with self.subTest(study=name):
                    table = pathlib.Path(folder, name, "table.md").read_text()
                    self.assertIn(table, done.stdout)
                    for words in [*wanted, "After \"", "Again: `tools/study %s --scale tiny`" % name, "**"]:
                        self.assertIn(words, table.replace("\n", " "))
                    self.assertIn("tools/study: %s took " % name, done.stderr)
                    self.assertEqual([], [line for line in table.splitlines() if len(line) > 80 and "https:" not in line])
                    self.assertIn("<table>", pathlib.Path(folder, name, "report.html").read_text())
            self.check_pages(folder, pathlib.Path(folder, "pages"))

    def check_pages(self, folder, to):
        """The pages have what the tables have, and nothing of another run; made again they are the same."""
        to.mkdir()
        for stale in ("mot.md", "mot-9.svg"):
            (to / stale).write_text("of another run")
        made = []
        for _ in range(2):
            done = study("pages", "--dir", folder, "--to", to)
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            made.append({path.name: path.read_bytes() for path in to.iterdir()})
        self.assertEqual(made[0], made[1])
        pictures = []
        for name, wanted in STUDIES.items():
            page = (to / (name + ".md")).read_text()
            for words in [*(word for word in wanted if word not in NOT_ON_PAGE), "Scale tiny, ", "mongod ", "other programs held up to ", "Again: `tools/study %s --scale tiny`" % name]:
                self.assertIn(words, re.sub(r"\s+", " ", page), name)
            pictures += re.findall(r"!\[[^\]]+\]\((.*)\)", page)
        self.assertEqual(sorted([name + ".md" for name in STUDIES] + pictures), sorted(made[0]))
        self.assertEqual({"{http://www.w3.org/2000/svg}svg"}, {xml.etree.ElementTree.parse(to / name).getroot().tag for name in pictures})

    def test_failures(self):
        """one study that fails does not end the others; a failed one has no page, and its old one stays"""
        with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
            to, old = pathlib.Path(folder, "pages"), pathlib.Path(folder, "mot/page")
            for path in (to, old):
                path.mkdir(parents=True)
                (path / "mot.md").write_text("of an earlier run")
            done = study("all", "--scale", "tiny", "--dir", folder, tipple="/bin/false")
            said = done.stderr.splitlines()[-len(STUDIES):]
            self.assertEqual((1, [True] * len(STUDIES)), (done.returncode, [
                line.startswith("tools/study: %s failed after " % name) for name, line in zip(sorted(STUDIES), said)]), done.stderr)
            done = study("pages", "--dir", folder, "--to", to)
            self.assertEqual((1, "tools/study: there is no whole run in %s of %s: make it first\n" % (folder, ", ".join(sorted(STUDIES)))),
                             (done.returncode, done.stderr))
            self.assertEqual("of an earlier run", (to / "mot.md").read_text())


if __name__ == "__main__":
    unittest.main()
