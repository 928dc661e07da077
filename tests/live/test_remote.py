"""URLs of https and http as inputs: from nginx with TLS, and from a server whose answers are odd. An object is the file.
needs: standalone"""
import gzip
import io
import os
import pathlib
import random
import re
import shlex
import zipfile

import dumplab
import live
import livetest
import minimongo
import weblab
from livetest import Books, rows

web = odd = None


def setUpModule():
    global web, odd
    web, odd = weblab.Nginx(), weblab.Odd()


def zip_of(**texts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return out.getvalue()


class Remote(livetest.Case):
    def loads(self, *urls, **more):
        return self.load(*urls, **{**web.environment, **more})

    def test_kinds(self):
        """plain, packed, zip, tar and a dump; without ranges, and by a redirect; `where` finds a record in an archive"""
        texts = [rows(6000, seed) for seed in range(6)]
        web.put("plain.csv", texts[0])
        web.put("a.gz", gzip.compress(texts[1]))
        web.put("a.zip", zip_of(x=texts[2]))
        web.put("a.tar", livetest.tar_of(("t.csv", texts[3])))
        web.put("a.tgz", gzip.compress(livetest.tar_of(("g.csv", texts[4]))))
        web.put("whole.csv", texts[5])
        urls = [web.https + "/plain.csv", web.https + "/moved/a.gz", web.https + "/a.zip", web.http + "/a.tar", web.https + "/a.tgz",
                web.https + "/whole/whole.csv"]
        self.assertEqual(6 * 6000, self.loads(*urls)["loaded"])
        for part in ("whole.csv: its server", "a.tgz: is packed"):
            self.assertIn(part, self.stderr)
        self.assertEqual([True] * 6, [book["complete"] for book in self.files()])
        self.tipple("verify", *self.words(*urls)[1:], **web.environment)
        self.assertEqual(0, self.loads(*urls)["read"])
        for name, text in ((urls[2] + "!x", texts[2]), (urls[3] + "!t.csv", texts[3])):
            last = text.splitlines()[-1]
            number = self.documents("results", filter={"t": int(last.split(b"|")[0])})[0]["_id"]
            self.assertEqual("%s offset %d line 6001\n%s\n" % (name, text.index(last), last.decode()), self.tipple(
                "where", "--uri", self.uri(), number, **web.environment).stdout.decode())
        orders, items = ([minimongo.encode({what: number}) for number in range(30)] for what in ("order", "item"))
        web.put("d.archive", dumplab.archive({"shop.orders": orders, "shop.items": items[:20]}))
        self.format = None
        for loaded in (20, 0):
            self.assertEqual(loaded, self.loads(web.https + "/d.archive!shop.items", collection="items")["loaded"])
        self.assertEqual({"GET"}, {request.split()[1] for request in web.requests()})

    def test_small(self):
        """an object of 128 KiB or less is asked for once, by one of few connections"""
        names = ["small%d.csv" % number for number in range(40)]
        for number, name in enumerate(names):
            web.put(name, rows(1000, number))
        web.requests()
        self.assertEqual(40 * 1000, self.loads(*[web.https + "/" + name for name in names])["loaded"])
        requests = [request.split() for request in web.requests()]
        self.assertEqual(sorted("/" + name for name in names), sorted(request[2] for request in requests))
        self.assertLessEqual(len({request[0] for request in requests}), 8)

    def test_same(self):
        """an object is the file of its name and content, in both directions, and wherever it is"""
        text = rows(9000)
        web.put("a.csv", text)
        self.write("a.csv", text)
        self.loads(web.https + "/a.csv")
        for other in ("a.csv", web.http + "/a.csv", web.https + "/slow/a.csv", web.https + "/a.csv?sig=1"):
            self.assertEqual((0, 1), (self.loads(other)["read"], self.loads(other)["files_skipped"]), other)
        self.holds(Books().plain(web.https + "/a.csv", text))
        self.client.drop_database(self.database)
        self.load("a.csv")
        self.assertEqual(0, self.loads(web.https + "/a.csv")["read"])
        web.put("a.csv", text + rows(100, 2, header=False))
        self.assertEqual(100, self.loads(web.https + "/a.csv")["loaded"])

    def test_odd(self):
        """cuts, 503, 200 in place of 206, stalls: what is there is what the server has"""
        text = rows(20000)
        for fault in weblab.FAULTS:
            odd.put(fault + ".csv", text)
            patience = ["--patience", "4s"] if fault == "stall" else []
            self.load("%s/%s/%s.csv" % (odd.url, fault, fault), *patience, "--memory", "64MiB", collection=fault)
            self.holds(Books().plain("%s/%s/%s.csv" % (odd.url, fault, fault), text), fault)

    def test_shut(self):
        """a connection that breaks while several objects are listed is tried again"""
        urls = ["%s/shut/%s.csv" % (odd.url, name) for name in "abc"]
        for number, name in enumerate("abc"):
            odd.put(name + ".csv", rows(100, number))
        self.load(*urls)
        self.assertEqual(300, self.client.count(self.database, "results"))

    def test_changed(self):
        """an object that changes is status 5, and the same command loads none of it twice"""
        odd.put("changed.csv", rows(30000), after=2)
        self.load(odd.url + "/plain/changed.csv", "--memory", "64MiB", status=5)
        self.assertIn("changed while", self.stderr)

    def test_killed(self):
        """a load is killed at random moments; the same command goes on"""
        draw, texts = random.Random(5), {"p.csv": rows(40000, 3), "q.gz": gzip.compress(rows(40000, 4))}
        for name, text in texts.items():
            web.put(name, text)
            self.write(name, text)
        urls = [web.https + "/slow/p.csv", web.https + "/slow/q.gz"]
        for _ in range(20 if livetest.NIGHTLY else 4):
            load = self.start(*urls, "-b", 100, env={**os.environ, **web.environment})
            moment = self.client.count(self.database, "results") + draw.randrange(1, 20000)
            livetest.wait_for(lambda: load.poll() is not None or self.client.count(self.database, "results") >= moment)
            self.kill(load)
        self.loads(*urls)
        self.tipple("verify", *self.words(*urls)[1:], **web.environment)
        self.tipple("verify", *self.words("p.csv", "q.gz")[1:])
        self.assertEqual(80000, self.client.count(self.database, "results"))

    def test_refused(self):
        """each with its sentence, and nothing was touched"""
        web.put("a.csv", rows(10))
        web.put("b.zip", zip_of(x=rows(20000)))
        for words, pattern, status in (
                ("/none.csv", "HTTP 404", 5), ("/folder/", "no list of", 1), ("/down/a.csv", "never from https", 5),
                ("/whole/b.zip", "server gives none", 5), ("/login/a.csv", "HTTP 401.*netrc", 5),
                ("/b.zip!x", "only a collection", 5), ("/none!x", "none!x: HTTP 404", 5)):
            self.refused(pattern, web.https + words, status=status, **web.environment)
        self.refused("SSL_CERT_FILE", web.https + "/a.csv", status=4)
        self.refused("netrc", web.https.replace("//", "//joe:canary@") + "/a.csv", status=1, **web.environment)
        self.refused("twice", web.https + "/a.csv?a=1", web.https + "/a.csv?a=2", status=1, **web.environment)
        self.refused("that lasted for", *["http://127.0.0.1:1/%d.csv" % number for number in range(600)], "--patience", "1s", status=4)

    def test_secrets(self):
        """a login of ~/.netrc, and a URL that was signed in advance: neither is seen anywhere"""
        web.put("s.csv", rows(60000))
        self.write(".netrc", "machine 127.0.0.1 login joe password canary\n")
        home = {"HOME": str(self.folder), **web.environment}
        self.loads(web.https + "/login/s.csv", **home)
        self.assertNotIn("canary", self.stderr)
        url = web.https + "/slow/s.csv?X-Amz-Signature=canary2"
        load = self.background(*self.words(url, "-v", collection="signed"), env={**os.environ, **home})
        livetest.wait_for(lambda: self.client.count(self.database, "signed") > 0)
        self.assertNotIn(b"canary2", pathlib.Path("/proc/%d/cmdline" % load.pid).read_bytes())
        said = b"".join(load.communicate(timeout=livetest.LONG))
        self.assertEqual(0, load.returncode, said)
        self.assertNotIn(b"canary2", said)
        self.assertNotIn("canary2", repr(self.catalog_entries("signed")))
        self.assertEqual(web.https + "/slow/s.csv", self.files("signed")[0]["path"])

    def test_page(self):
        """the commands of docs/remote.md, as they are printed"""
        web.put("orders.csv.gz", gzip.compress(rows(50)))
        page = (pathlib.Path(live.ROOT) / "docs" / "remote.md").read_text()
        commands = re.findall(r"^    \$ tipple (.*https://data\.example\.org.*)$", page, re.M)
        self.assertEqual(2, len(commands))
        for command in commands:
            words = shlex.split(command.replace("https://data.example.org", web.https).replace("URI", self.uri()))
            self.tipple(*words, **web.environment)


if __name__ == "__main__":
    livetest.main()
