"""A guess that is printed, and then given as --format."""
# needs: standalone

import live
import livetest


class Columns(livetest.Case):
    format = None

    def test_printed_guess(self):
        """a guess that is printed and given as --format reads as strictly; with multiline: yes it is for --retry"""
        self.write("a.csv", b"id,n\n1,5\n2,6\n")
        self.write("b.csv", b"id,n\n3,5\r\r\n4,6\n5,\"x\n6,y\"\n")
        guess = self.tipple("formats", "--guess", "a.csv").stdout
        self.write("a.yaml", guess)
        self.write("lines.yaml", guess.replace(b"header:", b"multiline: yes, header:"))
        self.load("a.csv")
        self.refused("without 'multiline: yes'", "b.csv", "--format", "./lines.yaml")
        counts = self.load("b.csv", "--format", "./a.yaml", status=2)
        self.assertEqual((1, 2), (counts["loaded"], counts["rejected"]))
        for words in ([], ["--format", "./a.yaml"]):
            self.tipple("verify", "--uri", self.uri(), *words, "a.csv", "b.csv")

    @livetest.nightly
    def test_printed_guess_of_no_quotes(self):
        """where nothing was in quotes, a later text that is in some without need is a reject, until a user says what they are"""
        self.write("a.tsv", b"id\ttitle\n1\tSo\n2\tUs\n")
        self.write("b.tsv", b"id\ttitle\n3\t\"Heroes\"\n4\tLow\n")
        self.load("a.tsv")
        counts = self.load("b.tsv", status=2)
        self.assertEqual((1, 1), (counts["loaded"], counts["rejected"]))
        self.write("any.yaml", self.tipple("formats", "--guess", "a.tsv").stdout.replace(b", quoted: needed", b""))
        self.refused("with 'quoted: needed'", "b.tsv", "--format", "./any.yaml")
        self.tipple("load", "--uri", self.uri(), "--format", "./any.yaml", "--retry", self.database + ".results.rejects")
        self.assertEqual([{"title": "Heroes"}], [{"title": each["title"]} for each in self.documents() if each["id"] == 3])


if __name__ == "__main__":
    assert live.TIPPLE
    livetest.main()
