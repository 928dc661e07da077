"""tools/cluster: what it starts is a sharded cluster, its members can be ended one by one, and nothing of it is left,
however it ends.  needs: none; nightly: a test of a tool"""
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import minimongo as mongo

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLUSTER = [sys.executable, str(ROOT / "tools/cluster")]
LABROUTER = pathlib.Path(os.environ.get("TIPPLE", ROOT / "build/release/tipple")).parent / "tools/labrouter"
MONGOS_OPTIONS = """
import argparse, json, os
parser = argparse.ArgumentParser(allow_abbrev=False)
for name in "configdb bind_ip logpath keyFile tlsMode tlsCertificateKeyFile tlsCAFile port".split():
    parser.add_argument("--" + name)
for name in "nounixsocket logappend tlsAllowConnectionsWithoutCertificates".split():
    parser.add_argument("--" + name, action="store_true")
parser.add_argument("--setParameter", action="append")
given = parser.parse_args()
shards = [member for member in json.load(open("cluster.json"))["members"] if member["role"] == "shard"]
words = ["labrouter", "--port", given.port, "--config", given.configdb.partition("/")[2],
         "--via", ",".join("127.0.0.1:%d" % member["port"] for member in shards)]
if given.keyFile:
    words += ["--user", "__system", "--password-file", given.keyFile]
if given.tlsMode:
    words += ["--tls-cert", given.tlsCertificateKeyFile, "--tls-ca", given.tlsCAFile]
os.execv(os.environ["TIPPLE_LABROUTER"], words)
"""


def processes(folder):
    """Every process, not yet ended, that has this folder on its command line, except for tools/cluster itself."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            ended = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z" if words else True
        except OSError:
            continue
        if not ended and os.fsencode(folder) in words and b"tools/cluster" not in words:
            found.append(int(entry.name))
    return found


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.mkdtemp(dir=os.getcwd())
        self.addCleanup(self.remove, scratch)
        self.folder = os.path.join(scratch, "cluster")
        self.addCleanup(self.end)

    @staticmethod
    def remove(scratch):
        """A process that was killed may have a thread that still finishes its write."""
        deadline = time.monotonic() + 300
        while os.path.exists(scratch) and time.monotonic() < deadline:
            shutil.rmtree(scratch, ignore_errors=True)

    def end(self):
        if os.path.exists(os.path.join(self.folder, "cluster.json")):
            self.cluster("down", "--dir", self.folder, "--kill")
        self.assertEqual([], processes(self.folder))

    def run_cluster(self, *words, **more):
        return subprocess.run([*CLUSTER, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=600, **more)

    def cluster(self, command, *words, status=0, **more):
        """The last line of stdout; what was said on stderr is in self.said."""
        done = self.run_cluster(command, *words, **more)
        self.said = done.stderr
        self.assertEqual(status, done.returncode, done.stderr)
        return (done.stdout.splitlines() or [""])[-1]

    def up(self, *words, **more):
        return self.cluster("up", "--dir", self.folder, "--owner", str(os.getpid()), *words, **more)

    def on(self, command, *words, **more):
        return self.cluster(command, "--dir", self.folder, *words, **more)

    def members(self, status=0):
        done = self.run_cluster("status", "--dir", self.folder, "--json")
        if status is not None:
            self.assertEqual(status, done.returncode, done.stderr)
        return {member["name"]: member for member in json.loads(done.stdout)["members"]}

    def shard(self, name):
        """A client of the primary of a shard that has no users."""
        seeds = ",".join(member["address"] for member in self.members().values() if member["set"] == name)
        client = mongo.Client("mongodb://%s/?replicaSet=%s" % (seeds, name))
        self.addCleanup(client.close)
        return client

    def until(self, condition, what, seconds=600):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.2)

    def shards_of(self, uri):
        """As the config server lists them."""
        with mongo.Client(uri) as client:
            return {shard["_id"]: shard["host"] for shard in client.find("config", "shards")}


class Members(Case):
    def test_two_shards_keep_their_data(self):
        uri = self.up("--shards", "2", "--routers", "0", "--cache", "10M", "--compressor", "zstd")
        self.assertIn("a cache of 10M is less", self.said)
        members = self.members()
        self.assertEqual(["c0", "s0", "s1"], list(members))
        self.assertEqual({"primary"}, {member["state"] for member in members.values()})
        self.assertEqual({name: "%s/%s" % (name, members[name]["address"]) for name in ("s0", "s1")},
                         self.shards_of(uri))
        for name in ("s0", "s1"):
            with self.shard(name) as client:
                client.insert("test", "here", [{"_id": name}])
                server = client.command("admin", {"serverStatus": 1})
                self.assertEqual(members[name]["pid"], server["pid"])
                self.assertEqual(10 << 20, server["wiredTiger"]["cache"]["maximum bytes configured"])
                engine = client.command("test", {"collStats": "here"})["wiredTiger"]["creationString"]
                self.assertIn("block_compressor=zstd", engine)
        self.assertEqual(uri, self.on("uri"))
        self.up(status=1)
        self.assertIn("is running", self.said)

        self.on("down")
        self.assertEqual([], processes(self.folder))
        self.assertEqual({"stopped"}, {member["process"] for member in self.members(status=3).values()})
        self.on("uri", status=1)
        self.assertEqual(uri, self.up())
        for name in ("s0", "s1"):
            with self.shard(name) as client:
                self.assertEqual([{"_id": name}], list(client.find("test", "here")))
                cache = client.command("admin", {"serverStatus": 1})["wiredTiger"]["cache"]
                self.assertEqual(10 << 20, cache["maximum bytes configured"])
        before = {name: member["pid"] for name, member in self.members().items()}
        self.assertEqual(uri, self.on("restart"))
        after = self.members()
        self.assertEqual({"primary"}, {member["state"] for member in after.values()})
        self.assertEqual([], [name for name, pid in before.items() if after[name]["pid"] == pid])
        with self.shard("s0") as client:
            self.assertEqual([{"_id": "s0"}], list(client.find("test", "here")))
        self.on("down")
        self.up("--shards", "3", status=1)
        self.assertIn("was made with shards 2", self.said)
        self.up("--fresh", "--shards", "1", "--routers", "0")
        with self.shard("s0") as client:
            self.assertEqual([], list(client.find("test", "here")))

    def test_users_and_tls(self):
        uri = self.up("--shards", "1", "--routers", "0", "--auth", "--tls")
        self.assertIn("tlsCAFile=", uri)
        password = pathlib.Path(self.folder, "password").read_text().strip()
        keyfile = pathlib.Path(self.folder, "keyfile").read_text()
        held = set()
        for path in pathlib.Path(self.folder).glob("*"):  # nobody else may read a secret, wherever it is written
            if path.is_file() and any(secret in path.read_text(errors="replace")
                                      for secret in (password, keyfile, "PRIVATE KEY")):
                held.add(path.name)
                self.assertEqual(0o600, stat.S_IMODE(path.stat().st_mode), path)
        self.assertLessEqual({"password", "keyfile", "uri", "cluster.json", "server.pem", "server.key"}, held)
        self.assertIn("mongodb://root:%s@" % password, uri)
        self.assertEqual(uri, pathlib.Path(self.folder, "uri").read_text().strip())
        self.assertEqual(["s0"], list(self.shards_of(uri)))
        with self.assertRaisesRegex(mongo.CommandError, "requires authentication"):
            self.shards_of(uri.replace("root:%s@" % password, ""))
        with self.assertRaises((mongo.Error, OSError)):
            mongo.Client("mongodb://%s/" % self.members()["s0"]["address"], timeout=2)
        self.on("down")
        self.assertEqual(uri, self.up())
        self.assertEqual(["s0"], list(self.shards_of(uri)))

    def test_a_process_that_is_not_ours_is_not_ended(self):
        self.up("--shards", "1", "--routers", "0")
        file = pathlib.Path(self.folder, "cluster.json")
        truth = file.read_text()
        other = subprocess.Popen(["sleep", "100"])
        self.addCleanup(lambda: (other.kill(), other.wait()))
        file.write_text(truth.replace('"pid": %d' % self.members()["s0"]["pid"], '"pid": %d' % other.pid))
        self.on("kill", "s0", status=1)
        self.on("down")
        self.assertIsNone(other.poll())
        file.write_text(truth)

    def test_a_start_that_fails_leaves_nothing(self):
        for words, environment, said in (
                (["--routers", "0", "--mongod=--nonsense"], {}, "(c0|s0) ended at once .*nonsense"),
                (["--routers", "1", "--router", "labrouter"], {"TIPPLE_LABROUTER": "/bin/false"}, "r0 ended at once"),
                (["--router", "mongos"], {"TIPPLE_MONGOS": "/bin/false"}, "r0 ended at once"),
                (["--routers", "0"], {"TIPPLE_MONGOD": "/nowhere"}, "TIPPLE_MONGOD is /nowhere"),
                (["--routers", "0", "--cache", "lots"], {}, "256M")):
            with self.subTest(words=words):
                self.up("--shards", "1", *words, status=1, env={**os.environ, **environment})
                self.assertRegex(self.said, said)
                self.assertFalse(os.path.exists(self.folder))
                self.assertEqual([], processes(self.folder))

    def test_it_ends_with_its_owner(self):
        owner = subprocess.Popen(["sleep", "100"])
        self.cluster("up", "--dir", self.folder, "--shards", "1", "--routers", "0", "--owner", str(owner.pid))
        owner.kill()
        owner.wait()
        self.until(lambda: not processes(self.folder), "it outlived its owner")


@unittest.skipUnless(os.access(LABROUTER, os.X_OK), "labrouter was not built")
class Routers(Case):
    def up(self, *words, **environment):
        environment = {"TIPPLE_LABROUTER": str(LABROUTER), **environment}
        return super().up(*words, env={**os.environ, **environment})

    def shard_and_fill(self, uri):
        """A collection on both shards, made through the router; the router's clients see all of it."""
        with mongo.Client(uri) as client:
            client.command("admin", {"shardCollection": "test.here", "key": {"_id": "hashed"}})
            client.insert("test", "here", [{"_id": number} for number in range(1000)])
            self.assertEqual(1000, client.count("test", "here"))
            placed = {stats["shard"]: stats["count"]
                      for stats in client.aggregate("test", "here", [{"$collStats": {"count": {}}}])}
            self.assertEqual(["s0", "s1"], sorted(placed))
            self.assertEqual(1000, sum(placed.values()))

    def test_a_mongos_is_preferred(self):
        """With a program that takes a mongos' options and the public commands; it is not a real one."""
        mongos = pathlib.Path(self.folder).parent / "mongos"
        mongos.write_text("#!%s\n%s" % (sys.executable, MONGOS_OPTIONS))
        mongos.chmod(0o755)
        for words in ([], ["--auth", "--tls"]):
            with self.subTest(words=words):
                uri = self.up("--fresh", *words, TIPPLE_MONGOS=str(mongos))
                self.assertEqual("mongos", self.members()["r0"]["program"])
                self.shard_and_fill(uri)


if __name__ == "__main__":
    unittest.main()
