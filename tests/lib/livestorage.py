"""livestorage: runs of `tipple tune --storage`, and a hook that looks at the scratch collection in each trial, with a
client of its own, when --cold would restart a server.

Nothing is asserted on speed, as in livetune.
"""
import json
import shlex
import sys

import livetune

PATIENT = livetune.PATIENT
ENDLESS = ("--precision", "0.1%", "--budget", "1h", "--compressor", "none,zstd", "--sample", "800")
HOOK = """
import json, sys
import minimongo
database, into, *uris = sys.argv[1:]
name = "results.tipple.tune"
seen = {"count": 0, "size": 0, "storage": 0, "indexes": 0, "compressors": []}
for uri in uris:
    with minimongo.Client(uri) as client:
        listed, = client.command(database, {"listCollections": 1, "filter": {"name": name}})["cursor"]["firstBatch"]
        config = listed["options"]["storageEngine"]["wiredTiger"]["configString"]
        seen["compressors"].append(config.partition("block_compressor=")[2].split(",")[0])
        seen["clustered"] = "clusteredIndex" in listed["options"]
        stats = client.command(database, {"collStats": name})
        for key, of in (("count", "count"), ("size", "size"), ("storage", "storageSize"),
                        ("indexes", "totalIndexSize")):
            seen[key] += stats[of]
        for document in client.find(database, name, sort={"_id": 1}, limit=1):
            first = {key: value for key, value in document.items() if key != "_id"}
            seen["short"] = all(len(key) == 1 for key in first)
            seen["keys"], seen["values"] = list(first), repr(list(first.values()))
compressor, = set(seen["compressors"])
with open(into, "a") as out:
    out.write(json.dumps({**seen, "compressor": compressor}) + "\\n")
"""


class Mixin(livetune.Mixin):
    form = "mot-long"

    def tune_words(self, *words):
        return ["tune", "--storage", "--format", self.form, "--uri", self.uri(), *words]

    def storage(self, *words, status=0, form="mot-long", ignored=None):
        """What --json says; None where nothing was printed. Nothing but what was there is left."""
        self.form = form
        before = self.everything()
        done = self.tipple(*self.tune_words("--json", *PATIENT, *words), status=status, **self.environment)
        self.stderr = done.stderr
        self.assertEqual(before, self.everything(), "something was touched, or is left")
        self.assertEqual(["a.csv"], [path.name for path in sorted(self.folder.iterdir())
                                     if path.suffix != ".log" and path.name not in ("cache", ignored)])
        if not done.stdout:
            return None
        said = json.loads(done.stdout)
        self.assertEqual((1, "tune", "storage", status),
                         (said["schema"], said["command"], said["study"], said["status"]))
        return said

    def hook(self, *uris):
        """The command for --cold; what it saw is told by seen()."""
        self.write("hook.log", HOOK)
        words = [sys.executable, self.folder / "hook.log", self.database, self.folder / "seen.log",
                 *(uris or [self.uri().replace("/" + self.database + ".results", "/")])]
        return shlex.join(map(str, words))

    def seen(self):
        return [json.loads(line) for line in (self.folder / "seen.log").read_text().splitlines()]

    def near(self, said, bytes_of):
        """A checkpoint that comes between two looks writes some pages anew."""
        mean = sum(bytes_of) / len(bytes_of)
        self.assertLessEqual(abs(said - mean), 0.15 * mean + 40960, "%s is not %s" % (said, bytes_of))

    def made(self, collection):
        listed, = self.client.command(self.database, {
            "listCollections": 1, "filter": {"name": collection}})["cursor"]["firstBatch"]
        config = listed["options"]["storageEngine"]["wiredTiger"]["configString"]
        return config.partition("block_compressor=")[2].split(",")[0], "clusteredIndex" in listed["options"]

    def adds_up(self, said, records):
        """Trials, shares and the settings that stand out, from the numbers that were printed."""
        settings = said["settings"]
        self.assertEqual(said["trials"], sum(setting["trials"] for setting in settings))
        self.assertTrue(said["checkpoints"])
        for setting in settings:
            self.assertGreaterEqual(setting["trials"], 2)
            self.assertEqual(setting["documents"], setting["trials"] * records)
            self.assertLessEqual(setting["low"], setting["docs_per_second"])
            self.assertLessEqual(setting["docs_per_second"], setting["high"])
            self.assertLessEqual(setting["docs_per_second"], setting["acknowledged_per_second"])  # without the checkpoint
            disk = setting["storage_bytes"] + setting["index_bytes"]
            self.assertAlmostEqual(setting["share"], disk / setting["data_bytes"], 4)
            self.assertAlmostEqual(setting["ratio"], setting["data_bytes"] / disk, 3)
            self.assertAlmostEqual(setting["bytes_per_document"], disk / records, 2)
            self.assertGreater(setting["scan_cache_seconds"], 0)
        self.assertTrue(any(setting["docs_per_second"] < setting["acknowledged_per_second"] for setting in settings))
        for name, key, chosen in (("smallest", "bytes_per_document", min), ("fastest_load", "docs_per_second", max),
                                  ("fastest_scan", "scan_cache_seconds", min)):
            self.assertEqual(chosen(setting[key] for setting in settings), said[name][key])
            self.assertIn(said[name], settings)
        self.assertIn(said["recommended"], settings)
        self.assertLessEqual(said["recommended"]["bytes_per_document"], said["fastest_load"]["bytes_per_document"])
        self.assertIn(" --compressor %s " % said["recommended"]["compressor"], said["load"])
