"""live: what a live test needs: a database of its own, a folder of its own, tipple, and a client that is not ours.
The server is the one in TIPPLE_TEST_URI, or the one of the pool that a class names.

    import live

    class Load(live.Case):
        def test_small(self):
            self.write("a.txt", "...")
            self.tipple("load", "--format", "mot", "--uri", self.uri("results"), "a.txt")
            self.assertEqual(3, self.client.count(self.database, "results"))

    live.main()
"""
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import minimongo
import pool

os.environ["COLUMNS"] = "1000"  # a sentence is one line
ROOT = pathlib.Path(os.environ.get("TIPPLE_ROOT") or pathlib.Path(__file__).resolve().parents[2])
DATA = ROOT / "tests/data"
TIPPLE = os.environ.get("TIPPLE") or str(ROOT / "build/release/tipple")
URI = os.environ.get("TIPPLE_TEST_URI")
KIND = os.environ.get("TIPPLE_TEST_KIND")
SERVER = os.environ.get("TIPPLE_TEST_SERVER")
LONG = 900  # seconds in which anything here ends, on a busy host, too, unless it hangs


def with_path(uri, path):
    """The URI with /path in it."""
    base, _, query = uri.partition("/?")
    return "%s/%s?%s" % (base, path, query)


def as_user(uri, name, password="pw", **more):
    """The URI for another user, who is known to the database admin."""
    base, _, query = uri.partition("://")[2].rpartition("@")[2].partition("?")
    options = {**dict(urllib.parse.parse_qsl(query)), "authSource": "admin", **more}
    return "mongodb://%s:%s@%s?%s" % (name, password, base, urllib.parse.urlencode(options, safe="/"))


class Case(unittest.TestCase):
    maxDiff = 4000
    server = None  # a name of pool.SERVERS in place of the server that the whole file needs

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        name = cls.server or SERVER
        if name:
            cls.use(pool.get(name))

    @classmethod
    def use(cls, state):
        """From now on the tests of this process, which run one after the other, are against this server."""
        global URI, KIND
        cls.state, URI, KIND = state, state["uri"], state["kind"]
        URI = URI if "/?" in URI else URI.rstrip("/") + "/?"

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

    def user(self, *roles):
        """The URI of a user with these roles, who is known to the database admin until the test ends."""
        self.client.command("admin", {"createUser": self.database, "pwd": "pw", "roles": [*roles]})
        self.addCleanup(self.forget_user)
        return as_user(self.uri(), self.database)

    def forget_user(self):
        with contextlib.suppress(minimongo.CommandError):  # a shard that does not know the user any more
            self.client.command("admin", {"dropUser": self.database})

    def role(self, *privileges, roles=()):
        """A role with these privileges, each (resource, action, ...), until the test ends."""
        self.client.command("admin", {"createRole": self.database, "roles": [*roles], "privileges": [
            {"resource": resource, "actions": actions} for resource, *actions in privileges]})
        self.addCleanup(self.client.command, "admin", {"dropRole": self.database})
        return self.database

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


def need_server():
    if not URI:
        print("TIPPLE_TEST_URI is not set; try: tests/lib/pool.py exec standalone python3 %s" % sys.argv[0])
        sys.exit(77)


def main():
    need_server()
    unittest.main(module="__main__")
