"""Servers that are not there, do not let us in, or take no writes.  needs: none"""
import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import termios
import threading
import time
import urllib.parse

import live
import livetest
import minimongo as mongo
import mongods
from livetest import Books, rows


class Absent(livetest.OwnServer):
    def test_nobody_there(self):
        """no server, no such host, one that never answers, one that is none: status 4 after --patience, or 1"""
        self.write("a.csv", rows(10))
        with socket.socket() as closed, socket.create_server(("127.0.0.1", 0)) as silent:
            closed.bind(("127.0.0.1", 0))
            for host in ("127.0.0.1:%d" % closed.getsockname()[1], "127.0.0.1:%d" % silent.getsockname()[1], "no.invalid"):
                began = time.monotonic()
                self.load("a.csv", "--patience", "1s", "--uri", "mongodb://u:hidden@%s/db.c" % host, status=4)
                self.assertGreater(time.monotonic() - began, 0.9)
                self.assertIn(host, self.stderr)
                self.assertRegex(self.stderr, r"longer than --patience \(1.0 s\)")
                self.assertNotIn("hidden", self.stderr)
        self.tipple("where", "--patience", "1s", "--uri", "mongodb://127.0.0.1:1/db.c", 5, status=4)

    def test_comes_late(self):
        """a server that comes up within the patience is waited for"""
        self.write("a.csv", rows(500))
        self.down(gently=True)
        self.addCleanup(lambda: self.up() if not mongods.running(self.servers) else None)
        load = self.start("a.csv", "--patience", "10m")
        time.sleep(0.5)  # it may have met nobody by then, which is the point; if not, nothing is lost
        self.assertIsNone(load.poll(), load.poll() is not None and load.communicate())
        self.up()
        self.assertEqual(0, load.wait(livetest.LONG))
        self.reconnect()
        self.holds(Books().plain("a.csv", rows(500)))

    def test_no_tls_here(self):
        """TLS where the server has none: status 1 that says what to change"""
        self.write("a.csv", rows(10))
        self.refused("not speak TLS", "a.csv", "--uri", self.uri() + "&tls=true")
        self.refused("tlsCAFile", "a.csv", "--uri", self.uri() + "&tls=true&tlsCAFile=/no/such.pem")

    def test_several_standalones(self):
        """two standalones in the URI: status 1, for the driver would take now one and now the other"""
        self.write("a.csv", rows(10))
        with mongods.temporary() as other:
            ports = [state["members"][0]["port"] for state in (self.state, other)]
            for pair in (ports, ports[::-1]):
                uri = "mongodb://127.0.0.1:%d,127.0.0.1:%d/%s.results" % (*pair, self.database)
                self.refused("is a standalone", "a.csv", "--uri", uri)
                self.tipple("status", "--uri", uri, status=1)
            with mongo.Client(other["uri"]) as client:
                self.assertEqual(0, client.count(self.database, "results"))

    def test_nobody_else(self):
        """--unsafe with a w= that asks others, and a standalone: status 1 at once"""
        self.write("a.csv", rows(10))
        for concern in "w=2", "w=nowhere":
            self.refused("others to confirm", "a.csv", "--unsafe", "--patience", "2m", "--uri", self.uri() + "&" + concern)
        self.load("a.csv", "--unsafe", "--uri", self.uri() + "&w=majority")

    def test_locked(self):
        """a server that takes no writes (fsyncLock): status 4 after the patience; then the same command"""
        text = rows(5000)
        self.write("a.csv", text)
        self.load("a.csv", "--limit", 100)
        self.client.command("admin", {"fsync": 1, "lock": True})
        try:
            self.load("a.csv", "--patience", "1s", status=4)
        finally:
            self.client.command("admin", {"fsyncUnlock": 1})
        self.load("a.csv")
        self.holds(Books().plain("a.csv", text))

    def freeze(self):
        """The server hears nobody until the test's end, or until the function that this gives is called."""
        pid = self.state["members"][0]["pid"]
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(os.kill, pid, signal.SIGCONT)
        return lambda: os.kill(pid, signal.SIGCONT)

    def test_frozen(self):
        """a server that hangs without closing anything: status 4 after the patience; awake, the same command goes on"""
        text = rows(5000)
        self.write("a.csv", text)
        for _ in range(20):  # on a busy host it may lose its patience before its time
            load = self.start_held("a.csv", "--patience", "1s")
            self.assertTrue(livetest.wait_for(
                lambda: load.poll() is not None or self.client.count(self.database, "results") > 1000))
            if load.poll() is None:
                break
        thaw = self.freeze()
        out, said = load.communicate(text, timeout=livetest.LONG)
        thaw()
        self.assertEqual(4, load.returncode, said)
        livetest.Counts(json.loads(out))
        self.load("a.csv")
        self.holds({number: raw for number, raw in Books().plain("a.csv", text).documents().items()}, extra={
            document["_id"]: raw for document, raw in zip(self.documents(), self.documents(raw=True))
            if document["_id"] & (1 << 53) - 1 >= 1 << 20})

    def test_verify_interrupted_while_frozen(self):
        """SIGTERM ends a verify of a server which does not answer, too, and does not say that it resumes from there"""
        text = rows(3000)
        self.load("-", "--input-name", "pipe", stdin=text)
        verify = subprocess.Popen(
            self.command("verify", *self.words("-", "--input-name", "pipe", "--patience", "1h")[1:]), cwd=self.folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(verify.kill)
        verify.stdin.write(text[:len(text) // 2])
        verify.stdin.flush()
        time.sleep(0.5)  # it is connected by then, mostly; if not, it has nobody to connect to
        thaw = self.freeze()
        verify.stdin.write(text[len(text) // 2:])
        verify.stdin.close()
        verify.stdin = None
        time.sleep(0.5)
        verify.send_signal(signal.SIGTERM)
        _, said = verify.communicate(timeout=livetest.LONG)
        thaw()
        self.assertEqual(-signal.SIGTERM, verify.returncode, said)
        self.assertNotIn(b"resumes", said)

    def test_interrupted_while_frozen(self):
        """SIGINT and SIGTERM end a load that waits for a server which does not answer, long before the patience"""
        self.write("a.csv", rows(5000))
        for number in (signal.SIGINT, signal.SIGTERM):
            load = self.start_held("a.csv", "--patience", "1h")
            self.assertTrue(livetest.wait_for(
                lambda: load.poll() is not None or self.client.count(self.database, "results") > 1000))
            self.assertIsNone(load.poll(), load.poll() is not None and load.stderr.read())
            thaw = self.freeze()
            load.stdin.write(rows(9000, 2))
            load.stdin.flush()
            time.sleep(0.5)  # so that it waits for an answer; if it does not yet, it must end all the same
            load.send_signal(number)
            self.assertEqual(-number, load.wait(livetest.LONG))
            thaw()
            # what it had sent is still done, and would make the collection anew
            self.assertTrue(livetest.wait_for(lambda: not self.connections_of_tipple()))
            self.client.drop_database(self.database)

    def connections_of_tipple(self):
        listed = self.client.command("admin", {"currentOp": 1, "$all": True})["inprog"]
        return [entry for entry in listed if entry.get("appName") == "tipple"]


class NoJournal(livetest.OwnServer):
    options = {"extra": ("--nojournal",)}

    def test_no_journal(self):
        """a standalone without a journal: --unsafe loads and says so, and after a crash a second load completes"""
        self.write("a.csv", rows(5000))
        self.load("a.csv", status=4)
        self.assertIn("without a journal", self.stderr)
        self.load("a.csv", "--unsafe")
        self.assertIn("not even the journal", self.stderr)
        self.down()
        self.up()
        self.reconnect()
        self.load("a.csv", "--unsafe")
        self.holds(Books().plain("a.csv", rows(5000)))


class WithTlsAndWithout(livetest.OwnServer):
    """A server that takes both."""

    @classmethod
    def up(cls):
        words = mongods.tls_options(live.pathlib.Path(cls.servers))
        cls.options = {"extra": ["preferTLS" if word == "requireTLS" else word for word in words]}
        super().up()

    def test_one_that_breaks_off_at_first(self):
        """the first connection of the kind that is asked for breaks off: the server speaks it all the same, and is waited for"""
        self.write("a.csv", rows(500))
        for options in "", "&tls=true&tlsCAFile=%s/ca.pem" % self.servers:
            port, broken = self.breaking(bool(options))
            uri = self.uri().replace(":%d/" % self.state["members"][0]["port"], ":%d/" % port)
            self.client.drop_database(self.database)
            self.load("a.csv", "--uri", uri + options)
            self.assertTrue(broken)
            self.holds(Books().plain("a.csv", rows(500)))

    def breaking(self, tls):
        """The port of a proxy that breaks off the first connection with TLS, or the first one without, and where it says so."""
        listener, broken = socket.create_server(("127.0.0.1", 0)), []
        self.addCleanup(listener.close)

        def forward(source, sink):
            with contextlib.suppress(OSError):
                while piece := source.recv(1 << 16):
                    sink.sendall(piece)
                sink.shutdown(socket.SHUT_WR)

        def serve(client):
            with client, socket.create_connection(("127.0.0.1", self.state["members"][0]["port"])) as server:
                if (client.recv(1, socket.MSG_PEEK) == b"\x16") == tls and not broken:
                    broken.append(client)
                    return
                back = threading.Thread(target=forward, args=(server, client), daemon=True)
                back.start()
                forward(client, server)
                back.join()

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        return listener.getsockname()[1], broken


class Unconfirmed(livetest.Case):
    server = "replset"

    def test_refused_behind_the_write(self):
        """--unsafe with a w= that the set does not have: the documents are there when the server says so, and the status is not 1"""
        text = rows(500)
        self.write("a.csv", text)
        for concern in "w=2", "w=nowhere":
            self.client.drop_database(self.database)
            self.load("a.csv", "--unsafe", "--uri", self.uri() + "&" + concern, status=4)
            self.assertIn("w= in the URI", self.stderr)
            self.assertEqual(500, len(self.documents()))
            self.assertEqual(500, self.load("a.csv")["already_there"])
            self.holds(Books().plain("a.csv", text))


class Guarded(livetest.OwnServer):
    options = {"auth": True, "tls": True}

    def setUp(self):
        super().setUp()
        self.write("a.csv", rows(200))
        self.client.command(self.database, {"dropAllUsersFromDatabase": 1})
        for name, role in (("reader", "read"), ("writer", "readWrite")):
            self.client.command(self.database, {"createUser": name, "pwd": "p@ss/w:rd?", "roles": [
                {"role": role, "db": self.database}]})

    def as_user(self, name, password, **more):
        base, _, query = self.uri().partition("@")[2].partition("?")
        options = {**dict(urllib.parse.parse_qsl(query)), "authSource": self.database, **more}
        options = {key: value for key, value in options.items() if value is not None}
        login = "%s:%s@" % (name, urllib.parse.quote(password, safe="")) if name else ""
        return "mongodb://%s%s?%s" % (login, base, urllib.parse.urlencode(options, safe="/"))

    def test_in(self):
        """user, password with odd characters and TLS: loaded; a password is never shown, not even with -v"""
        done = self.tipple(*self.words("a.csv", "-v", "--uri", self.as_user("writer", "p@ss/w:rd?")))
        self.holds(Books().plain("a.csv", rows(200)))
        said = done.stdout + done.stderr.encode() + mongo.encode(self.loads()[0])
        for secret in ("p@ss", "p%40ss", mongods.PASSWORD, urllib.parse.quote(mongods.PASSWORD)):
            self.assertNotIn(secret.encode(), said)

    def test_not_in(self):
        """wrong password, unknown user, no user, a user who may only read: status 1, nothing touched"""
        for uri, pattern in ((self.as_user("writer", "wr0ng"), "log in .* as 'writer'"),
                             (self.as_user("stranger", "x1y2"), "log in .* as 'stranger'"),
                             (self.as_user("writer", "p@ss/w:rd?", authSource="admin"), "log in.*authSource"),
                             (self.as_user(None, "", authSource=None), "asks for a user"),
                             (self.as_user("reader", "p@ss/w:rd?"), "'reader' may not: .*readWrite")):
            self.refused(pattern, "a.csv", "--uri", uri)
            self.assertNotRegex(self.stderr, "wr0ng|p@ss|p%40ss|x1y2")

    def test_tls(self):
        """no TLS where it is expected, an authority that is not known: status 1 that says what to add"""
        self.refused("expects TLS, add", "a.csv", "--uri", self.as_user("writer", "wr0ng", tls=None, tlsCAFile=None))
        self.refused("not trusted here.*tlsCAFile", "a.csv", "--uri", self.as_user("writer", "wr0ng", tlsCAFile=None))
        self.assertEqual(200, self.load("a.csv", "--uri", self.as_user(
            "writer", "p@ss/w:rd?", tlsCAFile=None, tlsAllowInvalidCertificates="true"))["loaded"])

    def test_authorities_of_other_systems(self):
        """without tlsCAFile: a file that SSL_CERT_FILE names, or where another system keeps it than OpenSSL was built on"""
        authority = str(live.pathlib.Path(self.servers) / "ca.pem")
        words = self.command(*self.words("a.csv", "--uri", self.as_user("writer", "p@ss/w:rd?", tlsCAFile=None)))
        subprocess.run(words, cwd=self.folder, check=True, env={**os.environ, "SSL_CERT_FILE": authority})
        self.holds(Books().plain("a.csv", rows(200)))
        elsewhere = ["unshare", "--mount", "sh", "-ec", "mount --make-rprivate /; cat $0 > ca.pem; mount -t tmpfs none /usr/lib/ssl; "
                     "mount -t tmpfs none /etc/ssl; mv ca.pem /etc/ssl/ca-bundle.pem; exec \"$@\"", authority]
        if subprocess.run([*elsewhere, "true"], cwd=self.folder, capture_output=True, check=False).returncode:
            self.skipTest("no mount namespace here: only SSL_CERT_FILE was tried")
        without = {name: value for name, value in os.environ.items() if not name.startswith("SSL_CERT_")}
        subprocess.run([*elsewhere, *words], cwd=self.folder, check=True, env=without)

    def test_key_password(self):
        """a key that is encrypted, in either form: with its password it is used; without, or with another one, nobody is asked"""
        server, url = live.pathlib.Path(self.servers) / "server.pem", self.as_user("writer", "p@ss/w:rd?")
        certificate = server.read_bytes()[server.read_bytes().index(b"-----BEGIN CERT"):]
        for name, how in (("old", ["ec", "-aes256"]), ("new", ["pkcs8", "-topk8"])):
            key = subprocess.run(["openssl", *how, "-in", server, "-passout", "pass:s3cret"], check=True, capture_output=True).stdout
            self.assertIn(b"ENCRYPTED", key)
            pem = self.write(name + ".pem", key + certificate)
            uri = url + "&tlsCertificateKeyFile=%s" % pem
            for more in "", "&tlsCertificateKeyFilePassword=wr0ng":
                said, status = self.at_terminal("status", "--uri", uri + more)
                self.assertEqual(1, status, said)
                self.assertIn(b"tlsCertificateKeyFilePassword", said)
                self.assertNotRegex(said, b"pass phrase|wr0ng|s3cret")
            self.load("a.csv", "--drop", "--yes", "--uri", uri + "&tlsCertificateKeyFilePassword=s3cret")
            self.assertNotIn("s3cret", self.stderr)

    def at_terminal(self, *words):
        """What it says where someone could be asked, and its status."""
        master, slave = os.openpty()
        process = subprocess.Popen(self.command(*words), cwd=self.folder, stdin=slave, stdout=slave, stderr=slave,
                                   start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.addCleanup(process.kill)
        os.close(slave)
        said = b""
        with contextlib.suppress(OSError):  # the terminal is gone with the last who had it
            while select.select([master], [], [], livetest.LONG)[0] and (more := os.read(master, 4096)) and b"pass phrase" not in said:
                said += more
        os.close(master)
        self.assertNotIn(b"pass phrase", said)
        return said, process.wait(livetest.LONG)

    def test_uri_file(self):
        """a password in --uri-file: not on the command line, not in the output, not in the process list"""
        self.write("uri", self.as_user("writer", "p@ss/w:rd?") + "\n")
        done = subprocess.run([live.TIPPLE, "load", "-f", "mot", "--uri-file", "uri", "--json", "a.csv"], cwd=self.folder,
                              capture_output=True, check=True)
        self.assertEqual(200, json.loads(done.stdout)["loaded"])
        self.assertNotIn(b"p%40ss", done.stdout + done.stderr)


if __name__ == "__main__":
    livetest.main()
