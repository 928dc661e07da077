"""Tars as `tipple load` reads them, written by Python's tarfile: packed and not, each document under its own `_id`.
needs: standalone; nightly on: replset"""
import gzip
import tarfile

import live
import livetest
from livetest import Books, rows, tar_of

PACKINGS = {"tar": lambda tar: tar, "tar.gz": lambda tar: gzip.compress(tar, 1), "tar.zst": livetest.zstd_frame,
            "parts.tgz": lambda tar: b"".join(gzip.compress(tar[at:at + 99999], 1) for at in range(0, len(tar), 99999))}


class Archives(livetest.Case):
    def test_members(self):
        """members of all kinds, in tars of all dialects, packed and not, with one thread and with many"""
        deep = "/".join(["d" * 60] * 4) + "/deep.csv"
        for number, (kind, packing) in enumerate((("ustar", "tar"), ("gnu", "parts.tgz"), ("pax", "tar.zst"), ("pax", "tar"))):
            texts = [rows(count, number * 10 + seed, bad={7}) for seed, count in enumerate((1000, 20, 300, 0, 100, 70))]
            packed = [gzip.compress(text) for text in texts]
            framed = livetest.zstd_frame(texts[2])
            tar = tar_of(("2014/a.gz", packed[0]), ("./2014//b.csv", texts[1]), ("2014/c.zst", framed), ("empty", b""),
                         (deep if kind != "ustar" else deep[60:], packed[4]), ("2014/.hidden", b"x"),
                         ("caf\u00e9.csv", texts[5]), kind=kind,
                         more=[("2014", tarfile.DIRTYPE, ""), ("link", tarfile.SYMTYPE, "2014/a.gz"),
                               ("hard", tarfile.LNKTYPE, "2014/a.gz"), ("pipe", tarfile.FIFOTYPE, "")])
            name, collection = "t%d" % number, "results%d" % number
            self.write(name, PACKINGS[packing](tar))
            books = Books().gzip(name + "!2014/a.gz", texts[0], packed[0]).plain(name + "!2014/b.csv", texts[1]) \
                .add("zstd", name + "!2014/c.zst", texts[2], len(texts[2]) if packing == "tar" else
                     32768 * len(framed), len(framed)).plain(name + "!empty", b"") \
                .gzip(name + "!" + (deep if kind != "ustar" else deep[60:]), texts[4], packed[4]) \
                .plain(name + "!caf\u00e9.csv", texts[5])
            counts = self.load(name, "-j", (1, 16)[number % 2], "--rejects", collection + ".rejects", collection=collection,
                               status=2)
            self.assertEqual(5, counts["rejected"])
            for word in ("2014/.hidden: hidden", "link: a symbolic link", "hard: a hard link", "pipe: a device, a pipe"):
                self.assertIn("skipped %s!%s" % (name, word), self.stderr)
            self.holds(books, collection)
            for file, book in zip(books.files, self.files(collection), strict=True):
                self.assertEqual((file.path, file.kind, file.disk, True, len(file.places)),
                                 tuple(book[key] for key in ("path", "kind", "size", "complete", "read")))
            again = self.load(name, collection=collection, status=2)
            self.assertEqual((0, 6), (again["read"], again["files_skipped"]))

    def test_changed(self):
        """a tar whose member changed is refused; one that only got another member is gone on with"""
        for end in ("tar", "tar.gz"):
            collection, name = "results" + end[-2:], "a." + end
            text, more, other = rows(500, 1), rows(300, 2), rows(500, 3)
            self.write(name, PACKINGS[end](tar_of(("in/a", text))))
            self.load(name, collection=collection)
            self.write(name, PACKINGS[end](tar_of(("0", more), ("in/a", text), kind="gnu")))
            counts = self.load(name, collection=collection)
            self.assertEqual((300, 1), (counts["read"], counts["files_skipped"]))
            self.write(name, PACKINGS[end](tar_of(("in/a", other))))
            self.refused("%s!in/a has changed" % name, name, collection=collection, status=5)

    def test_rolled(self):
        """a member of the same last name, in an archive that was written anew, is another input: nothing is removed"""
        for end in ("tar", "tar.gz"):
            collection, name = "results" + end[-2:], "a." + end
            for number, words in enumerate(([], [], ["--reload-changed"])):
                self.write(name, PACKINGS[end](tar_of(("202%d/data.csv" % number, rows(500 - number, number)))))
                self.assertEqual(500 - number, self.load(name, *words, collection=collection)["loaded"])
            self.assertEqual(500 + 499 + 498, self.client.count(self.database, collection))


if __name__ == "__main__":
    assert live.TIPPLE
    livetest.main()
