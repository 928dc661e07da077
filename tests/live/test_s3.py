"""Objects of s3:// from a server that checks signatures: keys from everywhere, lists over several pages, what is refused.
needs: standalone"""
import gzip
import os
import unittest

import livetest
import storelab

LARGE = 40000
store = None
only_moto = unittest.skipIf(storelab.OF_FILES, "s3s-fs has no sessions")
# a prefix with odd names, by the bytes of their keys, and their rows; each page has three
ODD = {key: 3 + number for number, key in enumerate((
    "odd/a b+c.txt", "odd/dt=2024-05-22/%3D&'*.txt", "odd/dt=2024-05-22/x//y.txt", "odd/p/1.txt", "odd/p/2.txt.gz",
    "odd/z~-_.txt", "odd/\u00fc?#.txt"))}


def setUpModule():
    global store
    store = storelab.Store()
    for key in [key for key in ODD if not store.keeps(key)]:
        del ODD[key]
    for key, rows in ODD.items():
        text = livetest.rows(rows, seed=rows - 3)
        store.put("data", key, gzip.compress(text) if key.endswith(".gz") else text)
    store.put("data", "odd/p/", b"")  # a folder, as consoles make them
    store.put("data", "odd/p/_SUCCESS", b"")  # as Spark leaves it
    store.put("data", "odd/p/.hidden", b"no data")
    store.put("data", "large.txt", livetest.rows(LARGE))
    if not storelab.OF_FILES:
        store.put("data", "public.txt", livetest.rows(6, seed=3), **{"x-amz-acl": "public-read"})


class S3(livetest.Case):
    def setUp(self):
        super().setUp()
        self.nowhere = {"AWS_ENDPOINT_URL": store.url, "HOME": str(self.folder), "AWS_EC2_METADATA_DISABLED": "true"}

    def loads(self, rows, *names, **environment):
        said = self.load(*names, **{**self.nowhere, **environment})
        self.assertEqual((rows, rows), (said["read"], said["loaded"]), self.stderr)
        for name in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
            self.assertNotIn(environment.get(name, "no secret"), self.stderr)
        return said

    def refuses(self, pattern, *names, **environment):
        self.refused(pattern, *names, status=5, **{**self.nowhere, **environment})
        for name in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
            self.assertNotIn(environment.get(name, "no secret"), self.stderr)

    def test_prefix(self):
        """All below a prefix, over pages of three; verify, and the same objects again; then copies of them on disk."""
        env = store.user()
        rows = sum(ODD.values())
        self.loads(rows, "s3://data/odd/", **env)
        self.assertEqual(["s3://data/" + key for key in sorted((*ODD, "odd/p/_SUCCESS"), key=str.encode)],
                         [entry["path"] for entry in self.files()])
        self.tipple("verify", *self.words("s3://data/odd/")[1:], **{**self.nowhere, **env})
        self.loads(0, "s3://data/odd/", **env)
        self.write("1.txt", livetest.rows(6, seed=3))
        self.loads(0, "1.txt")

    def test_patterns(self):
        """As in a shell, * matches no /."""
        env = store.user()
        def rows(*keys):
            return sum(ODD.get("odd/" + key, 0) for key in keys)
        self.loads(rows("a b+c.txt", "p/2.txt.gz", "z~-_.txt", "\u00fc?#.txt"), "s3://data/odd/*.txt", "s3://data/odd/p/*.gz", **env)
        self.loads(rows("dt=2024-05-22/%3D&'*.txt", "p/1.txt"), "s3://data/odd/*/[1%]*.txt", **env)

    def test_killed(self):
        """A load that is killed again and again goes on, and the copy on disk is the same input."""
        name, text, env, points = "s3://data/large.txt", livetest.rows(LARGE), store.session(), 20 if livetest.NIGHTLY else 3
        for point in range(1, points + 1):
            process = self.start_held("--max-rate", "20k", name, env={**os.environ, **self.nowhere, **env})
            livetest.wait_for(lambda: process.poll() is not None or
                              self.client.count(self.database, "results") >= point * LARGE // (points + 1))
            self.assertIsNone(process.poll())
            self.kill(process)
        self.load(name, **self.nowhere, **env)
        self.holds(livetest.Books().plain(name, text))
        self.tipple("verify", *self.words(name)[1:], **self.nowhere, **env)
        self.write("large.txt", text)
        self.assertEqual(0, self.load("large.txt")["read"])
        self.tipple("verify", *self.words("large.txt")[1:])

    def test_shared(self):
        """Two loads share the objects of a prefix."""
        env = store.user()
        both = [self.start("s3://data/odd/", "s3://data/large.txt", env={**os.environ, **self.nowhere, **env}) for _ in range(2)]
        for process in both:
            said, errors = process.communicate(timeout=livetest.LONG)
            self.assertEqual(0, process.returncode, errors)
        self.assertEqual(LARGE + sum(ODD.values()), self.client.count(self.database, "results"))
        self.tipple("verify", *self.words("s3://data/odd/", "s3://data/large.txt")[1:], **self.nowhere, **env)

    @only_moto
    def test_keys(self):
        """Keys of sessions from a profile, a process, an instance, a container and a web identity; and none at all."""
        env, name = store.session(), "s3://data/odd/p/1.txt"
        self.write(".aws/credentials", "[etl]\naws_access_key_id = %s\naws_secret_access_key = %s\naws_session_token = %s\n" %
                   tuple(env[name] for name in sorted(env)))
        self.write(".aws/config", "[profile etl]\nendpoint_url = %s/\nregion = us-east-1\n"
                   "[profile by]\ncredential_process = cat '%s/printed'\n" % (store.url, self.folder))
        self.write("printed", '{"Version": 1, "AccessKeyId": "%s", "SecretAccessKey": "%s", "SessionToken": "%s"}' %
                   tuple(env[name] for name in sorted(env)))
        self.loads(6, name, AWS_PROFILE="etl", AWS_ENDPOINT_URL="")
        self.loads(0, name, AWS_PROFILE="by")
        neighbour = storelab.Neighbour(store.session, seconds=100)  # it ends soon, and is fetched again
        self.addCleanup(neighbour.end)
        self.loads(0, name, AWS_CONTAINER_CREDENTIALS_FULL_URI=neighbour.url + "/container",
                   AWS_CONTAINER_AUTHORIZATION_TOKEN="let me in")
        self.loads(0, name, AWS_EC2_METADATA_DISABLED="", AWS_EC2_METADATA_SERVICE_ENDPOINT=neighbour.url)
        self.assertEqual(["/container", "/latest/api/token", "/latest/meta-data/iam/security-credentials/",
                          "/latest/meta-data/iam/security-credentials/reader"], neighbour.asked)
        self.refuses(r"container's credentials, which answered 401", name,
                     AWS_CONTAINER_CREDENTIALS_FULL_URI=neighbour.url + "/container")
        self.write("token", "of a pod")
        with store.opened():
            self.loads(0, name, AWS_WEB_IDENTITY_TOKEN_FILE="token", AWS_ROLE_ARN=storelab.ROLE)
            self.loads(6, "s3://data/public.txt")
            self.refuses(r"403 .*without a key", "s3://data/large.txt")

    def test_process_hangs(self):
        """A process that prints no key does not keep a load from its end by a signal."""
        self.write(".aws/config", "[default]\ncredential_process = touch '%s/began'; exec sleep 60 2>&-\n" % self.folder)
        load = self.background(*self.words("s3://data/large.txt"), env={**os.environ, **self.nowhere})
        livetest.wait_for((self.folder / "began").exists)
        load.terminate()
        self.assertIn(b"interrupted", load.communicate(timeout=30)[1])
        self.assertEqual(-15, load.returncode)

    def test_refused(self):
        """Each with S3's code, and where the key came from."""
        env, other = store.session(), store.user()
        self.refuses(r"403 (InvalidAccessKeyId|NotSignedUp) .*the environment \(AWS_ACCESS_KEY_ID\)", "s3://data/large.txt",
                     **{**other, "AWS_ACCESS_KEY_ID": "AKIANOBODY"})
        self.refuses(r"403 SignatureDoesNotMatch ", "s3://data/odd/", **{**other, "AWS_SECRET_ACCESS_KEY": "hush"})
        if not storelab.OF_FILES:
            self.refuses(r"400 InvalidToken ", "s3://data/large.txt", **{**env, "AWS_SESSION_TOKEN": "hush"})
        self.refuses(r"s3://data/none\.txt: .*404 NoSuchKey ", "s3://data/none.txt", **env)
        self.refuses("404 NoSuchKey " if storelab.OF_FILES else "404 NoSuchBucket ", "s3://none/a.txt", **env)
        self.refuses(r"404 NoSuchBucket ", "s3://none/", **env)
        self.refuses(r"s3://data/none/: .*no object", "s3://data/none/", **env)
        self.refuses(r"s3://data/\*\.none: .*no object", "s3://data/*.none", **env)
        self.refuses(r"there is no profile 'none'", "s3://data/large.txt", AWS_PROFILE="none")


if __name__ == "__main__":
    livetest.main()
