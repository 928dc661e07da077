"""tipple load --copies N: each input is loaded N times, as if there were N equal files; each copy has `_id`s of its own.
needs: standalone; nightly on: replset"""
import json
import os
import re

import livetest
from livetest import Books, rows


class Copies(livetest.Case):
    def paths(self):
        return [entry["path"] for entry in self.files()]

    def test_twice(self):
        """every document of each copy, byte for byte; a second load finds them all; verify wants as many; more copies
        can be added, and fewer be named"""
        text, other = rows(3000), rows(100, 2)
        self.write("a.csv", text)
        self.write("d/b.csv", other)
        books = Books().plain("a.csv", text).plain("d/b.csv", other)
        books.plain("a.csv!copy-2", text).plain("d/b.csv!copy-2", other)
        said = self.load("a.csv", "d", "--copies", 2)
        self.assertEqual((6200, 6200), (said["read"], said["loaded"]))
        self.assertNotIn("another file", self.stderr)
        self.holds(books)
        self.assertEqual([file.path for file in books.files], self.paths())
        self.assertEqual(6200, self.verified("a.csv", "d", "--copies", "2")["expected"])
        self.assertEqual(0, self.load("a.csv", "d", "--copies", 2)["read"])
        self.assertEqual(0, self.load("a.csv", "d")["read"])
        words = self.words("a.csv", "d", "--copies", "3", json_wanted=False)[1:]
        self.assertIn("a.csv!copy-3 is not in", self.tipple("verify", *words, status=1).stderr)
        books.plain("a.csv!copy-3", text)
        self.assertEqual(3000, self.load("a.csv", "--copies", 3)["loaded"])
        self.holds(books)
        self.client.command(self.database, {"delete": "results", "deletes": [
            {"q": {"_id": max(books.files[2].documents)}, "limit": 1}]})
        found = self.tipple("verify", *self.words("a.csv", "d", "--copies", "2", json_wanted=False)[1:], status=None)
        self.assertIn("a.csv!copy-2", found.stdout.decode())

    def test_rejects(self):
        """each copy's reject is counted and kept, and is fixed by itself"""
        text = rows(100, bad={7})
        self.write("a.csv", text)
        said = self.load("a.csv", "--copies", 2, status=2)
        self.assertEqual((200, 198, 2), (said["read"], said["loaded"], said["rejected"]))
        with open(os.path.join(self.folder, "%s.results.rejects" % self.database), "rb") as file:
            kept = file.read()
        self.assertEqual(2, len(re.findall(rb"(?m)^#@\w+ offset=", kept)))
        bad, good = text.splitlines()[8], rows(100).splitlines()[8]
        self.write("fixed", kept.replace(bad, good))
        self.assertEqual(2, self.load("--retry", "fixed")["loaded"])
        self.assertEqual(200, self.client.count(self.database, "results"))
        self.assertEqual(0, self.load("a.csv", "--copies", 2)["read"])
        self.verified("a.csv", "--copies", "2", "--retry", "fixed")

    def test_where_and_forget(self):
        """a document of a copy is found in its file; one copy is forgotten, and loaded again"""
        text = rows(40)
        self.write("a.csv", text)
        self.load("a.csv", "--copies", 2)
        ((number, (offset, line, _)), *_) = Books().plain("a.csv", text).plain("a.csv!copy-2", text).files[1].places.items()
        said = json.loads(self.tipple("where", "--uri", self.uri(), "--json", str(number)).stdout)
        self.assertEqual(("a.csv!copy-2", offset, line), (said["file"], said["offset"], said["line"]))
        self.shorten_lease(1)
        self.tipple("forget", "a.csv!copy-2", "--delete", "--yes", "--uri", self.uri())
        self.assertEqual(40, self.client.count(self.database, "results"))
        self.assertEqual(40, self.load("a.csv", "--copies", 2)["loaded"])


if __name__ == "__main__":
    livetest.main()
