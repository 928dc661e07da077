"""Files with lines that are no records, of UTF-16, and with a delimiter of two characters: resumed, verified, grown, and each document's
place is reported."""
# needs: standalone; quick: yes
import gzip
import json

import live
import livetest

ROWS = 6000


def text(rows=ROWS, delimiter=","):
    """A title, and a comment before every hundredth row, with quotes that mean nothing there; row 777 is damaged"""
    lines = ["Report of \"2024", "", "# a comment", delimiter.join(("id", "name"))]
    for row in range(rows):
        if row % 100 == 0:
            lines.append('# %d%s"no%s"record' % (row, delimiter, delimiter))
        name = '"of\n# two lines %d"' % row if row % 10 == 0 else "name %d" % row
        lines.append(str(row) if row == 777 else "%d%s%s" % (row, delimiter, name))
    return "\n".join(lines) + "\n"


def wanted(rows=ROWS):
    return [{"id": row, "name": "of\n# two lines %d" % row if row % 10 == 0 else "name %d" % row}
            for row in range(rows) if row != 777]


class Passed(livetest.Case):
    def words(self, *words, collection="results"):
        return ["load", "--uri", self.uri(collection), "--json", *words]

    def stored(self):
        return [{key: value for key, value in document.items() if key != "_id"}
                for document in self.client.find(self.database, "results", sort={"id": 1})]

    def interrupted(self, name):
        process = self.start(name, "--batch", "20", "--threads", "2", "--max-rate", "2k")
        livetest.wait_for(lambda: self.client.count(self.database, "results") > 500)
        self.kill(process)
        self.shorten_lease()

    def resumed(self, name):
        self.interrupted(name)
        self.load(name, status=2)
        self.assertEqual(wanted(), self.stored())
        self.tipple("verify", "--uri", self.uri(), name, status=0)
        self.assertEqual(0, self.load(name, status=2)["read"])

    def place_of(self, row):
        document = next(iter(self.client.find(self.database, "results", {"id": row})))
        return self.tipple("where", "--uri", self.uri(), "--json", str(document["_id"]), status=0).stdout

    def test_resumed(self):
        """skip and comment, guessed: killed, loaded to the end, verified; and lines are counted as in the file"""
        whole = text()
        self.write("a.csv", whole.encode())
        self.resumed("a.csv")
        line = whole[:whole.index("\n2346,")].count("\n") + 2
        self.assertEqual(line, json.loads(self.place_of(2346))["line"])

    def test_utf16(self):
        """the same as UTF-16, plain and packed"""
        for name, data in ("a.csv", text().encode("utf-16")), ("c.csv.gz", gzip.compress(text().encode("utf-16"))):
            with self.subTest(name):
                self.write(name, data)
                self.resumed(name)
                self.client.command(self.database, {"dropDatabase": 1})


if __name__ == "__main__":
    assert live.TIPPLE
    livetest.main()
