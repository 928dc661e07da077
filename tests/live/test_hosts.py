"""Several hosts in one URI, some of them silent or under other names.  needs: cluster"""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

import clusters
import livecluster
import livetest
import minimongo as mongo
import mongods


class Several(livecluster.Cluster):
    """The hosts of the pool's cluster."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.routers, cls.shards = ([clusters.address(member) for member in cls.state["members"] if member["role"] == role]
                                   for role in ("router", "shard"))

    def ask(self, *hosts, options=""):
        """The driver takes the one that answers first: now this one, now that one."""
        for turned in (hosts, hosts[::-1]):
            uri = "mongodb://%s/%s.results%s" % (",".join(turned), self.database, options)
            self.tipple("status", "--patience", "2m", "--uri", uri)

    def test_aliases(self):
        """one host under two names, and hosts that are away: nothing is refused"""
        alias = self.shards[0].replace("127.0.0.1", "localhost")
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            away = "127.0.0.1:%d" % closed.getsockname()[1]
            for hosts in ((self.shards[0], alias), (alias, away), (self.shards[0], away),
                          (self.routers[0], self.routers[0].replace("127.0.0.1", "localhost")),
                          (*self.routers, away)):
                self.ask(*hosts)

    def test_horizons(self):
        """members of one set, which has other names for who comes by another name: nothing is refused; with TLS, the end of a
        command waits for no host that is silent"""
        folder = tempfile.mkdtemp(prefix="set-", dir=os.getcwd())
        self.addCleanup(shutil.rmtree, folder, True)
        self.addCleanup(mongods.stop, folder, gently=False)
        state = mongods.start(folder, replset=2, tls=True, tied=True)
        with mongo.Client(state["uri"]) as client:
            config = client.command("admin", {"replSetGetConfig": 1})["config"]
            config["version"] += 1
            for member in config["members"]:
                member["horizons"] = {"other": member["host"].replace("127.0.0.1", "localhost")}
            client.command("admin", {"replSetReconfig": config})
        first, second = ("%s:%d" % (name, member["port"]) for name, member in
                         zip(("127.0.0.1", "localhost"), state["members"]))
        options = "?" + state["uri"].partition("?")[2]
        self.ask(first, second, options=options)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            began = time.monotonic()
            self.tipple("status", "--patience", "2m", "--uri", "mongodb://%s,127.0.0.1:%d/%s.results%s&connectTimeoutMS=100000" % (
                first, silent.getsockname()[1], self.database, options))
            self.assertLess(time.monotonic() - began, 50)

    def test_silent(self):
        """hosts that take connections and never answer are waited for together, not one after the other"""
        silent, took = [socket.create_server(("127.0.0.1", 0)) for _ in range(12)], []
        self.addCleanup(lambda: [one.close() for one in silent])
        away = ["127.0.0.1:%d" % one.getsockname()[1] for one in silent]
        for hosts in away[:1], away:
            began = time.monotonic()
            self.tipple("status", "--patience", "5m", "--uri",
                        "mongodb://%s/%s.results" % (",".join([self.routers[0], *hosts]), self.database))
            took.append(time.monotonic() - began)
        self.assertLess(took[1], 20 + 6 * took[0])

    def test_names(self):
        """a server by an IPv6 address or a socket: what is wrong in the URI is said as it is by a name"""
        folder = tempfile.mkdtemp(dir="/tmp")  # a socket's path has at most 107 bytes
        self.addCleanup(shutil.rmtree, folder, True)
        port = mongods.free_port()
        interfaces = pathlib.Path("/proc/net/if_inet6")
        six = interfaces.exists() and "%032x" % 1 in interfaces.read_text()
        os.mkdir(os.path.join(folder, "data"))
        log = os.path.join(folder, "log")
        server = subprocess.Popen(
            [mongods.find(), "--port", str(port), "--dbpath", os.path.join(folder, "data"), "--logpath", log,
             "--unixSocketPrefix", folder, "--wiredTigerCacheSizeGB", "0.25",
             *(("--ipv6", "--bind_ip", "127.0.0.1,::1") if six else ("--bind_ip", "127.0.0.1"))],
            stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        names = ["%s%%2Fmongodb-%d.sock" % (folder.replace("/", "%2F"), port)] + ["[::1]:%d" % port] * six
        for name in names:
            uri = "mongodb://%s/%s.results" % (name, self.database)
            self.tipple("status", "--patience", "2m", "--uri", uri)
            for option, said in (("replicaSet=rs7", "'rs7'"), ("tls=true", "not speak TLS")):
                done = self.tipple("status", "--patience", "2m", "--uri", "%s?%s" % (uri, option), status=1)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    livetest.main()
