"""live: what a live test needs: a database of its own, a folder of its own, tipple, and a client that is not ours.

    import live

    class Load(live.Case):
        def test_small(self):
            self.write("a.txt", "...")
            self.tipple("load", "--format", "mot", "--uri", self.uri("results"), "a.txt")
            self.assertEqual(3, self.client.count(self.database, "results"))

    live.main()
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import minimongo

ROOT = pathlib.Path(os.environ.get("TIPPLE_ROOT") or pathlib.Path(__file__).resolve().parents[2])
DATA = ROOT / "tests/data"
TIPPLE = os.environ.get("TIPPLE") or str(ROOT / "build/release/tipple")
URI = os.environ.get("TIPPLE_TEST_URI")
KIND = os.environ.get("TIPPLE_TEST_KIND")
LONG = 900  # seconds in which anything here ends, on a busy host, too, unless it hangs


def with_path(uri, path):
    """The URI with /path in it."""
    base, _, query = uri.partition("/?")
    return "%s/%s?%s" % (base, path, query)


class Case(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        words = (pathlib.Path(sys.argv[0]).stem, self.id().split(".", 1)[-1], str(os.getpid()))
        self.database = re.sub(r"\W+", "_", "_".join(words))[-60:]
        self.client = minimongo.Client(URI)
        self.client.drop_database(self.database)
        self.addCleanup(self.client.close)
        self.addCleanup(self.client.drop_database, self.database)
        folder = tempfile.TemporaryDirectory(prefix="live-", dir=os.getcwd())
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def uri(self, collection="results"):
        return with_path(URI, "%s.%s" % (self.database, collection))

    def write(self, name, content):
        """A file in the test's folder; its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def command(self, *words):
        return [TIPPLE, *map(str, words)]

    def tipple(self, *words, status=0, stdin=b"", timeout=LONG, **environment):
        """Runs tipple in the test's folder and checks its exit status (None: any). The result has bytes in stdout
        and text in stderr."""
        done = subprocess.run(self.command(*words), cwd=self.folder, timeout=timeout, capture_output=True,
                              input=stdin.encode() if isinstance(stdin, str) else stdin,
                              env={**os.environ, **environment})
        done.stderr = done.stderr.decode(errors="replace")
        if status is not None and done.returncode != status:
            self.fail("tipple %s: status %d, not %d\nstdout: %s\nstderr: %s"
                      % (" ".join(map(str, words)), done.returncode, status,
                         done.stdout.decode(errors="replace")[-3000:], done.stderr[-3000:]))
        return done

    def documents(self, collection="results", raw=False, **find):
        return list(self.client.find(self.database, collection, raw=raw, sort={"_id": 1}, **find))


def main():
    if not URI:
        print("TIPPLE_TEST_URI is not set; try: tools/server run -- python3 %s" % sys.argv[0])
        sys.exit(77)
    unittest.main(module="__main__")
