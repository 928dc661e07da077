"""What `tipple load` reads: plain files, folders, patterns, pipes and packed files, each document byte for byte.
needs: standalone; nightly on: replset"""
import contextlib
import gzip
import http.server
import os
import subprocess
import threading
import zipfile

import live
import livetest
from livetest import Books, rows


def turned(text):
    """Its columns the other way round, except for the first."""
    lines = [line.split(b"|") for line in text.split(b"\n")]
    return b"\n".join(b"|".join([line[0], *reversed(line[1:])]) for line in lines)


class Inputs(livetest.Case):
    def test_other_header(self):
        """a header in the middle that names other columns ends the load: what is after it would be read wrongly"""
        names = rows(0)
        for number, (before, after, line) in enumerate((
                (rows(100), turned(rows(50, 2)), 102), (rows(4000), turned(rows(2000, 2)), 4002),
                (rows(100, header=False), names[:-1] + b"|completed_date\n", 101), (b"# exported\n", turned(rows(5)), 2))):
            collection = "other%d" % number
            self.write("a.csv", before + after)
            self.load("a.csv", collection=collection, status=5)
            self.assertRegex(self.stderr, r"a\.csv:%d: .*header" % line)
            self.assertEqual(len(before) > 1000, "tipple forget a.csv" in self.stderr)  # before the last one nothing was written
            found = {raw["t"] for raw in self.documents(collection)}
            if len(before) < livetest.WINDOW:  # a block after the header's may have been sent before that was read
                self.assertEqual(set(), found, "a record of its block is there")
            for words in ([["verify", "--uri", self.uri(collection)]] if found else []) + [["parse"]]:
                said = self.tipple(*words, "-f", "mot", "a.csv", status=5).stderr
                self.assertIn("a.csv:%d: this line is" % line, said)
            if len(before) > 1000:
                self.assertEqual(50, self.load("a.csv", "--limit", 50, collection=collection + "l")["loaded"])
        self.shorten_lease(1, "other1")
        self.tipple("forget", "a.csv", "--delete", "--yes", "--uri", self.uri("other1"))
        self.write("1.csv", rows(4000))
        self.write("2.csv", turned(rows(2000, 2)))
        self.assertEqual(6000, self.load("1.csv", "2.csv", collection="other1")["loaded"])

    def test_same_header(self):
        """a header in the middle that names the same columns is passed over; one that is still being written is not known
        yet; a line that only begins like one is a reject"""
        quoted = b"|".join(b'"%s"' % name for name in livetest.NAMES.split(b"|")).upper()
        parts = rows(100), rows(100, 2), quoted.replace(b'"TEST_ID"', b'"test_id"') + b"\n", rows(100, 3, header=False)
        self.write("a.csv", b"".join(parts))
        self.assertEqual(300, self.load("a.csv")["loaded"])
        self.write("b.csv", rows(100, 4) + livetest.NAMES[:25])
        self.assertEqual(1, self.load("b.csv", status=2)["rejected"])
        self.write("b.csv", rows(100, 4) + rows(100, 5))
        self.load("b.csv")
        self.assertEqual(500, self.client.count(self.database, "results"))
        self.write("c.csv", rows(10, 6) + b"test_id|9\n" + rows(10, 7, header=False))
        said = self.load("c.csv", status=2)
        self.assertEqual((20, 1), (said["loaded"], said["rejected"]))
        self.assertIn("c.csv:12:1 (offset", self.stderr)

    def test_names(self):
        """names with odd bytes, links to files, and names that look like options"""
        text = rows(20)
        self.write("real", text)
        (self.folder / "link").symlink_to("real")
        odd = os.fsdecode(b"caf\xe9 \n%.csv")
        self.write(odd, rows(30, 2, bad={3}))
        self.write("--drop", rows(40, 3))
        self.assertEqual(89, self.load("link", odd, "--", "--drop", status=2)["loaded"])
        self.assertEqual(0, self.load("link", odd, status=2)["read"])
        names = [file["path"] for file in self.files()]
        self.assertEqual(["link", "--drop"], [names[0], names[2]])
        self.assertRegex(names[1], r"caf\\xe9 \\x0a%.csv$")
        self.assertEqual(1, len(self.entries()))
        self.assertNotIn(b"\xe9", self.tipple("where", "--uri", self.uri(), min(
            Books().plain("", text).plain("", rows(30, 2)).files[1].documents)).stdout)

    def test_bytes_read(self):
        """as many bytes as a file on disk or a pipe has, compressed or not, also where the format is guessed from them first"""
        self.write("t", text := rows(3000))
        subprocess.run("gzip -k t; xz -k t; cp t u; tar -czf t.tgz t u", shell=True, check=True, cwd=self.folder)
        for number, name in enumerate(("t", "t.gz", "t.xz", "t.tgz") * 2):
            data, self.format = (self.folder / name).read_bytes(), None if number < 4 else "mot"
            for words in ((name,), ("-", "--input-name", "x"))[:1 if name == "t.tgz" else 2]:
                said = self.load(*words, collection="read%d%s" % (number, words[0][0]), stdin=data)
                self.assertEqual((len(data), len(text) << (name == "t.tgz")), (said["bytes_read"], said["bytes_text"]))

    def test_printed_pipe(self):
        """the pipe that is printed for a URL that is not read, in cron's environment: an error page or half of a file is no success, and the
        same command then loads the rest"""
        text, pages = rows(3000), {}

        class Pages(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body, length = pages.get(self.path, (b'{"message": "not found"}', 24))
                self.send_response(200 if self.path in pages else 404)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)

            def pipe(page):
                url = "ftp://127.0.0.1:%d/%s" % (server.server_port, page)
                said = self.tipple("parse", url, status=5).stderr
                command = said[said.index("bash -o"):].replace("ftp:", "http:").replace("NAME", "feed").replace(
                    " URI ", " '\\''%s'\\'' -q --format mot " % self.uri()).replace("tipple", str(live.TIPPLE))
                kept = ["%s=%s" % each for each in os.environ.items() if each[0].endswith("SAN_OPTIONS")]
                return subprocess.run(["env", "-i", *kept, "/bin/sh", "-c", command], cwd=self.folder, capture_output=True, text=True,
                                      timeout=livetest.LONG)

            self.assertEqual(22, pipe("none.csv").returncode)
            self.assertEqual(0, self.there())
            half = text.index(b"\n", len(text) // 2) + 1
            for end, status in ((half, 18), (len(text) * 3 // 4, 2)):  # curl's own; or with a record that was cut off
                pages["/a.csv"] = text[:end], len(text)
                self.assertEqual(status, pipe("a.csv").returncode)
                self.assertLess(1000, self.there())
            pages["/a.csv"] = text, len(text)
            went = pipe("a.csv")
            self.assertEqual(0, went.returncode, went.stderr)
            self.assertEqual(3000, self.there())
            self.tipple("verify", "--format", "mot", "--uri", self.uri(), "-", "--input-name", "feed", stdin=text)

    def there(self):
        return self.client.count(self.database, "results")

    def test_fifo(self):
        """a FIFO whose writer comes late, and one with gzip in it"""
        text = rows(1000)
        os.mkfifo(self.folder / "pipe")
        load = self.start("pipe")
        thread = livetest.feed(self.folder / "pipe", text)
        self.assertEqual(0, load.wait(livetest.LONG), "status")
        thread.join(livetest.LONG)
        self.holds(Books().stream("pipe", text))
        livetest.feed(self.folder / "pipe", gzip.compress(text))
        self.load("pipe")
        self.holds(Books().stream("pipe", text).stream("pipe", text))

    def test_fifos_by_turns(self):
        """more FIFOs than there are CPUs, which one program fills by turns: all of them are read at once"""
        texts = {"pipe%d" % number: rows(3000, number + 1) for number in range(min(16, os.cpu_count() + 1))}
        for name in texts:
            os.mkfifo(self.folder / name)
        load = self.start(*texts)

        def fill():
            with contextlib.ExitStack() as stack, contextlib.suppress(BrokenPipeError):
                pipes = [(stack.enter_context(open(self.folder / name, "wb", buffering=0)), text)
                         for name, text in texts.items()]
                for at in range(0, max(map(len, texts.values())), 100000):
                    for pipe, text in pipes:
                        pipe.write(text[at:at + 100000])
        threading.Thread(target=fill, daemon=True).start()
        self.addCleanup(load.kill)
        self.assertEqual(0, load.wait(livetest.LONG), "status")
        self.assertEqual(3000 * len(texts), self.client.count(self.database, "results"))

    def test_mix(self):
        """all kinds in one load, with few threads and with many"""
        text = [rows(500, seed) for seed in range(1, 6)]
        packed = gzip.compress(text[1])
        self.write("p.csv", text[0])
        self.write("g.gz", packed)
        self.write("z.zst", livetest.zstd_frame(text[2]))
        self.write("z.zip", livetest.zip_of(("m.csv", text[3], zipfile.ZIP_DEFLATED)))
        books = Books().plain("p.csv", text[0]).gzip("g.gz", text[1], packed) \
            .add("zstd", "z.zst", text[2], len(text[2]), 0).plain("z.zip!m.csv", text[3]).stream("-", text[4])
        for threads, batch in ((1, 7), (16, 1000)):
            collection = "results%d" % threads
            counts = self.load("p.csv", "g.gz", "z.zst", "z.zip", "-", "--threads", threads, "--batch", batch,
                               stdin=text[4], collection=collection)
            self.assertEqual(2500, counts["loaded"])
            self.holds(books, collection)

    def test_long_last_record(self):
        """a last record without a line end that is larger than what is left of --memory is loaded, and nobody waits"""
        self.write("own.yaml", 'format: own\nrecord: {delimiter: ",", header: no}\nfields: [{name: a}, {name: b}]\n')
        for name in "abcd":
            self.write(name, b"1,2\n" * 300 + b"3," + b"y" * (5 << 20))
        self.assertEqual(4 * 301, self.load("--format", "./own.yaml", "--memory", "16M", "a", "b", "c", "d")["loaded"])

    def test_limit_among_last_records(self):
        """--limit counts last records without a line end, of the file where it ends and of those before it; that they are
        there is written down"""
        names = ["%d.csv" % number for number in range(40)]
        for records, limits in (2, (1, 3, 41, 80)), (1, (1, 39, 40)):
            for name in names:
                self.write(name, rows(records)[:-1])
            for limit in limits:
                with self.subTest(records=records, limit=limit):
                    into = "limit%d_%d" % (records, limit)
                    self.assertEqual(limit, self.load(*names, "--limit", limit, collection=into)["loaded"])
                    self.assertEqual(limit, self.client.count(self.database, into))
                    self.assertEqual((40 - limit // records) * records, self.load(*names, collection=into)["read"])

    def test_limit_beyond_a_damaged_input(self):
        """an input that is cut off before --limit is reached is reported, and does not end the reading as the limit does"""
        packed = gzip.compress(rows(2000))
        self.write("cut.csv.gz", packed[:len(packed) // 2])
        self.write("d.csv", rows(1))
        whole = self.load("cut.csv.gz", status=5, collection="whole")["read"]
        self.assertTrue(0 < whole < 2000)
        for limit, status in (1, 0), (whole, 0), (whole + 1, 5), (5000, 5):
            with self.subTest(limit=limit):
                counts = self.load("cut.csv.gz", "d.csv", "--limit", limit, status=status, collection="cut%d" % limit)
                self.assertEqual(min(limit, whole), counts["read"])
                self.assertEqual(status == 5, "middle of its gzip" in self.stderr)


if __name__ == "__main__":
    assert live.TIPPLE
    livetest.main()
