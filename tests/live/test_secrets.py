"""A password never leaves the process: each command is given a URI with one in every place where it does and does not
belong, and what it prints, writes and stores is looked through.
needs: standalone; locks: failpoints"""
import collections
import contextlib
import os
import pathlib
import re
import subprocess
import threading

import live
import livetest
import livetune

CANARY = "cAnArY%dx" % os.getpid()  # a test next to this one has another
USER = "joe%d" % os.getpid()
OWN_FILES = ("x.yaml", "f.yaml", "uri.txt", "a.txt", "a.csv")  # which the test wrote itself

# each hides the canary in another kind of password: right, wrong, not escaped, not readable
PASSWORDS = (CANARY, "wrong" + CANARY, "a/" + CANARY, "a@" + CANARY, "a:" + CANARY, "a?" + CANARY, "a#" + CANARY,
             "a " + CANARY, "it's" + CANARY, CANARY + "%zz", CANARY + "%40")


def command_line(process):
    """Of a process that is there; b"" in the middle of an exec, where parts of two command lines are read."""
    line = (process / "cmdline").read_bytes()
    with contextlib.suppress(OSError):  # it has ended: then what was read is all that there was
        again = (process / "cmdline").read_bytes()
        if again not in (b"", line):
            return b""
    return line


class Secrets(livetest.Case):
    def some(self, *things):
        """All of them nightly, else one: those of calls with as many things take turns."""
        self.turns[len(things)] += 1
        return things if livetest.NIGHTLY else things[self.turns[len(things)] % len(things):][:1]

    def setUp(self):
        self.turns = collections.Counter()
        super().setUp()
        self.client.command("admin", {"createUser": USER, "pwd": CANARY, "roles": ["root"]})
        self.addCleanup(self.client.command, "admin", {"dropUser": USER})
        self.tipple("generate", "mot", "--rows", 20, "-q", "-o", "a.txt")
        self.write("x.yaml", "suite: x\nqueries:\n  - {name: q, find: {filter: {}, limit: 1}}\n")

    def secret(self, password=CANARY, **more):
        """The collection's URI with a password in it."""
        base, _, query = live.URI.partition("/?")
        host = more.get("host") or base.split("://")[1].split("@")[-1]
        return "mongodb://%s:%s@%s/%s.results?%s&authSource=admin&serverSelectionTimeoutMS=300" % (
            USER, password, host, self.database, query)

    def clean(self, *words, **environment):
        """Runs it to its end, whatever that is: the canary is nowhere."""
        done = self.tipple(*words, status=None, **environment)
        for name, said in (("stdout", done.stdout.decode(errors="replace")), ("stderr", done.stderr)):
            if CANARY in said:
                self.fail("tipple %s: %s holds the password: %s" % (" ".join(map(str, words)), name, [
                    line for line in said.splitlines() if CANARY in line][:3]))
        return done

    def all_clean(self):
        """No file and no document holds it."""
        for path in self.folder.rglob("*"):
            if path.is_file() and path.name not in OWN_FILES:
                self.assertNotIn(CANARY.encode(), path.read_bytes(), path)
            self.assertNotIn(CANARY, path.name)
        for entry in self.client.command(self.database, {"listCollections": 1})["cursor"]["firstBatch"]:
            for document in self.client.find(self.database, entry["name"], raw=True):
                self.assertNotIn(CANARY.encode(), bytes(document), entry["name"])

    @staticmethod
    def options():
        """Each command's options that take a value: (command, option, variable of the environment, what it takes)."""
        def said(*words):
            return subprocess.run([live.TIPPLE, *words], stdout=subprocess.PIPE, check=True).stdout.decode()
        for command in re.findall(r"(?m)^  ([a-z]+)  ", said("help")):
            for option, takes in re.findall(r"(?m)^  (?:-\w, )?--([\w-]+) (\S+)(?:  .*)?$", said(command, "--help")):
                yield command, option, "TIPPLE_" + option.upper().replace("-", "_"), takes

    def test_wrong_places(self):
        """a URI where a number, a name, a file, an option, a command or an argument should be"""
        uri, count = self.secret(), 0
        slashed, bare = uri.replace("//", "/", 1), uri.replace("//", "", 1)
        texts = uri, slashed, bare, uri[:uri.index("@")], "a:" + slashed, "a:1;name=" + bare, "password=" + slashed
        commands, seen = set(), set()
        for command, option, variable, takes in self.options():
            commands.add(command)
            if takes in ("URI", "COMMAND") or (option in seen and not livetest.NIGHTLY):
                continue
            seen.add(option)
            if "URI" in takes:  # or something else, such as the file of a suite
                for text in texts:
                    self.clean(command, "--" + option, text)
                continue
            count += 1
            for words in ["--" + option, uri], *self.some(*(["--%s=%s" % (option, text)] for text in texts)):
                done = self.clean(command, *words)
                self.assertEqual(1, done.returncode, (command, words))
                self.assertIn("goes with --uri", done.stderr)
            self.clean(command, **{variable: uri})
        self.assertGreater(count, 50)
        self.assertGreater(len(commands), 10)
        for command in sorted(commands) + ["help"]:
            for words in self.some([uri], ["--", uri], ["--urx=" + uri], ["--" + uri], ["-" + uri], ["-u" + uri], ["-q", uri, uri]):
                done = self.clean(command, *words)
                self.assertEqual(1, done.returncode, (command, words))
        for words in ([uri], ["--" + uri], ["help", "--" + uri], ["query", "--suite", "./x.yaml", "--uri", uri, uri]):
            self.assertEqual(1, self.clean(*words).returncode)
        self.all_clean()

    def test_bad_uris(self):
        """a URI that is none, whose server is not there, or whose password is wrong: with -v, too, and in reports"""
        for password in PASSWORDS:
            for host in self.some(None, "127.0.0.1:1", "127.0.0.1:x", "[::1"):
                for uri in self.some(self.secret(password, host=host), self.secret(password, host=host).replace("//", "/"),
                                     self.secret(password, host=host).replace("mongodb:", "mongo:")):
                    done = self.clean("status", "-v", "--uri", uri, "--patience", "100ms")
                    if password != CANARY and host:
                        self.assertNotEqual(0, done.returncode)
        for uri in (self.secret("wrong" + CANARY), self.secret(host="127.0.0.1:1")):
            for words in (["load", "--format", "mot", "a.txt"], ["verify", "--format", "mot", "a.txt"], ["forget", "a.txt"],
                          ["query", "--suite", "./x.yaml", "--report", "q.html"], ["where", "5"],
                          ["tune", "--format", "mot", "a.txt", "--report", "t.html"],
                          ["drill", "--format", "mot", "a.txt", "--report", "d.html"]):
                self.write("uri.txt", uri + "\n")
                for given, environment in self.some((["-v", "--uri", uri], {}), ([], {"TIPPLE_URI": uri}),
                                                    (["--uri-file", "uri.txt"], {})):
                    done = self.clean(*words, *given, "--patience", "100ms", **environment)
                    self.assertNotEqual(0, done.returncode)
        self.all_clean()

    def test_right_places(self):
        """loads, verifies, asks and reports with the right password, which is in commands at the same time, too"""
        uri = self.secret()
        done = self.clean("load", "-v", "--json", "--format", "mot", "--uri", uri, "--report", "l.html", "a.txt")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(0, self.clean("verify", "-v", "--json", "--format", "mot", "--uri", uri, "a.txt").returncode)
        self.assertEqual(0, self.clean("status", "-v", "--json", "--inputs", "--uri", uri).returncode)
        query = ["query", "-v", "--suite", "./x.yaml", "--uri", uri, "--repeats", 1]
        bare = "tool --login %s" % CANARY  # no URI, but the password of ours
        for words, status in ((["--report", "q.html", "--json"], 0), (["--report", "q.html"], 0), (["--explain"], 0),
                              (["--while", "false " + bare, "--report", "b.html"], 6),
                              (["--while", "sleep 100; true '%s'" % uri, "--report", "w.html"], 0)):
            done = self.clean(*query, *words)
            self.assertEqual(status, done.returncode, done.stderr)
        self.all_clean()

    def test_commands(self):
        """a secret in the text of --while, in whatever form: that text is nowhere"""
        self.client.insert(self.database, "results", [{"_id": 1}])
        query = ["query", "--suite", "./x.yaml", "--uri", self.secret(), "--repeats", 1]
        for number, text in enumerate(("--password '%s'", "--password='%s'", "--password  %s", "-p %s", "PGPASSWORD='%s'",
                                       "--tlsCertificateKeyFilePassword %s", "%s")):
            command = "true " + text % CANARY
            for words in self.some(["--while", command], ["--while=" + command], ["--while", "false " + command[5:]]):
                self.clean(*query, *words, "--report", "c%d.html" % number)
        self.all_clean()

    def test_uri_options(self):
        """a secret among the options of a URI, where it is known, unknown, torn or no option at all: taken or refused"""
        plain = self.secret().replace("%s:%s@" % (USER, CANARY), "")
        self.load("a.txt")
        for option, taken in (("awsSessionToken=%s", False), ("pwd=%s", False), ("%s=1", None), ("%s", False),
                              ("tlsCertificateKeyFilePassword=ab;%s", None), ("tlsCertificateKeyFilePassword%%3D%s", False),
                              ("AWS_SESSION_TOKEN:%s", False), ("tls=%s", False), ("w=%s", None), ("tls=true;pwd=%s", False),
                              ("authMechanismProperties=%s", None), ("pwd=a b%s", False), ("pwd=it's%s", False),
                              ("authMechanismProperties=SERVICE_NAME:%s", True)):
            uri = "%s&%s" % (plain, option % CANARY)
            torn = uri.replace("?", "&", 1)
            for words in self.some(["load", "--format", "mot", "a.txt", "--report", "l.html"], ["status"],
                                   ["query", "--suite", "./x.yaml", "--repeats", 1, "--report", "q.html"],
                                   ["drill", "--format", "mot", "a.txt", "--predict-only", "--report", "p.html"]):
                if option in ("w=%s", "tls=%s", "%s=1") and words[-1][-5:] in (".html",):
                    words = words[:-2]
                done = self.clean(*words, "-v", "--uri", uri, "--patience", "100ms")
                if taken is not None:
                    self.assertEqual(taken, done.returncode != 1, (words, uri, done.stderr))
            self.assertEqual(1, self.clean("load", "--format", "mot", "a.txt", "-v", "--uri", torn).returncode)
        self.clean("tune", "--format", "mot", "a.txt", "--threads", 1, "--batch", 100, "--uri", plain + "&authMechanismProperties=SERVICE_NAME:" + CANARY, XDG_CACHE_HOME=str(self.folder / "cache"))
        self.all_clean()

    def watched(self, *words, **environment):
        """As clean; and no process but tipple itself has the canary on its command line. Returns how many were seen."""
        over, seen = threading.Event(), {}

        def watch():
            while not over.is_set():
                for folder in pathlib.Path("/proc").glob("[0-9]*"):
                    with contextlib.suppress(OSError, IndexError):
                        line = command_line(folder)
                        if line.split(b"\0")[0] not in (b"", live.TIPPLE.encode(), b"setarch"):
                            seen[line] = True

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            done = self.clean(*words, **environment)
        finally:
            over.set()
            watcher.join()
        self.assertEqual([], [line for line in seen if CANARY.encode() in line])
        return done, seen

    @livetest.nightly
    def test_studies(self):
        """tunes, drills and loads as they were found best; their processes, reports and what they keep"""
        uri = self.secret()
        keep = {"XDG_CACHE_HOME": str(self.folder / "cache")}
        tune = ["tune", "--format", "mot", "--uri", livetune.named(uri, self), "--threads", 2, *livetune.SLOW,
                "--budget", "20s", "a.csv"]
        livetune.slow(self)
        for words in (["--report", "t.html", "-v"], ["--compressor", "none,zstd", "--report", "s.html", "--json"]):
            done, _ = self.watched(*tune, *words, **keep)
            self.assertEqual(0, done.returncode, done.stderr)
        self.client.command("admin", {"configureFailPoint": "failCommand", "mode": "off"})
        done, _ = self.watched("load", "-v", "--format", "mot", "--threads", "auto", "--uri", uri, "a.csv", **keep)
        self.assertEqual(0, done.returncode, done.stderr)
        for words in (["--index", "k:1", "--report", "d.html", "-v", "--history", "h.json"],
                      ["--predict-only", "--report", "p.html", "--json"]):
            done, _ = self.watched("drill", "--format", "mot", "--uri", uri, "--sample", 400, *words, "a.csv")
            self.assertEqual(0, done.returncode, done.stderr)
        # a command that a user typed is a child; a secret that he did not type into it is not there
        done, seen = self.watched("query", "--suite", "./x.yaml", "--uri", uri, "--duration", "2s",
                                  "--while", "sleep 98.7654")  # as long as the watcher needs on a busy machine
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertTrue(any(b"98.7654" in line for line in seen), "the watcher sees nothing")
        self.all_clean()

    def test_files(self):
        """a suite and a format that hold a URI: in lists, labels, tables, sentences and reports"""
        uri = self.secret()
        self.client.insert(self.database, "results", [{"_id": 1}])
        suite = ("suite: 'of %s'\nabout: %s\nparams: {p: '%s'}\nqueries:\n  - name: q\n    about: %s\n    tags: ['%s']\n"
                 "    each: {u: ['%s', {deep: '%s'}]}\n    find: {filter: {n: {$ne: {$param: u}}}}\n    %s\n"
                 "tables: [{title: %s, rows: u, columns: query, show: mean_ms, published: {%s: {q: 1}}}]\n")
        for more in ("", "expect: {documents: 5}", "expect: {digest: '%s'}" % uri, "options: {hint: '%s'}" % uri,
                     "collection: '%s'" % uri, "find: '%s'" % uri, "'%s': 5" % uri, "documents: '%s'" % uri):
            self.write("x.yaml", suite % (uri, uri, uri, uri, uri, uri, uri, more, uri, uri))
            query = ["query", "--suite", "./x.yaml", "--uri", uri, "--repeats", 1]
            for words in self.some(["--json"], ["--report", "s.html"], ["--explain"]):
                self.clean(*query, *words)
        for text in ("format: '%s'\n", "format: f\nabout: '%s'\nfields: [{name: a}]\n", "format: f\nfields: [{name: '%s'}]\n",
                     "format: f\nfields: [{name: a, type: '%s'}]\n", "'%s': 5\n", "format: f\nlike: '%s'\n"):
            self.write("f.yaml", text % uri)
            for words in self.some(("formats", "--check", "./f.yaml"), ("parse", "--format", "./f.yaml", "a.txt")):
                self.clean(*words)
        self.all_clean()


if __name__ == "__main__":
    os.environ.pop("TIPPLE_URI", None)
    livetest.main()
