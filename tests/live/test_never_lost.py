"""Loads that are interrupted, or at work next to another one, and inputs that grow or change in between: the same command
ends with everything.
needs: none; nightly on: standalone replset cluster"""
import livetest
import neverlost
from livetest import rows


class Interrupted(neverlost.Case):
    server = "replset"

    def test_killed_often(self):
        """three hundred small files, a load that is killed again and again, anywhere"""
        texts, met = self.inputs({"in/%03d.csv" % number: rows(2, number + 1) for number in range(300)}), 0
        for left in range(20 if livetest.NIGHTLY else 8, 0, -1):
            words = "-j", self.draw.choice("124"), "-b", self.draw.choice(("1", "2", "50")), "in"
            if self.draw.random() < 0.5:  # so that some documents are left for the last of them
                met += self.interrupted(self.draw.randint(1, 1 + (600 - self.there()) // left), *words)
            else:
                met += self.interrupted_at_message(self.draw.randint(5, 60), *words)
        self.finished(texts, "in")
        self.said("killed %d times" % met)

    def test_grown(self):
        """a file that grows twice, each time after its load was interrupted"""
        text = rows(6000, 7)
        for size in (2500, 4500):
            grown = text[:text.index(b"\n", text.index(b"\n7%08d|" % size) + 1) + 1]
            self.inputs({"a.csv": grown})
            for _ in range(2):
                self.interrupted(self.draw.randint(1, 2000), "-b", "100", "a.csv")
        self.inputs({"a.csv": text})
        self.finished({"a.csv": text})

    def test_torn_record(self):
        """a file that was cut off in a record, whose end was loaded, and then is whole"""
        for kills in (1, 2):
            self.begin_anew()
            text = rows(3000, 8)
            cut = text[:-self.draw.randint(2, 6)]  # in its last date: a document can be made of it, but a wrong one
            self.inputs({"a.csv": cut})
            for _ in range(kills):  # the whole of it is there, and the load does not know
                self.interrupted(self.draw.randint(1, 2900) if kills == 2 and not self.there() else 3000 - self.there(),
                                 "-b", "100", "a.csv")
            self.assertGreaterEqual(self.there(), 3000)
            self.inputs({"a.csv": text})
            self.repaired({"a.csv": text})

    def repaired(self, texts):
        """It is said that the file has changed, or all is right."""
        self.interrupted(1, "-b", "100", *texts, status=(0, 5))
        said = self.load(*texts, status=(0, 5))
        if said["status"] == 5:
            self.assertRegex(self.stderr, "change|--reload-changed")
        else:
            self.complete(texts)
        return said["status"]

    def test_torn_by_id(self):
        """where the shard key is the _id, such a file is corrected, not refused"""
        if self.key != "_id":
            self.skipTest("the shard key is not the _id")
        text = rows(3000, 8)
        self.inputs({"a.csv": text[:-3]})
        self.interrupted(3000, "-b", "100", "a.csv")
        self.inputs({"a.csv": text})
        self.assertEqual(0, self.repaired({"a.csv": text}))

    def test_streams_of_like_names(self):
        """two streams whose names end alike are two inputs"""
        first, second = rows(100, 1), rows(250, 2)
        self.load("--input-name", "day1/data.csv", "-", stdin=first)
        said = self.load("--input-name", "day2/data.csv", "-", stdin=second)
        self.assertEqual(250, said["read"])
        self.exact({"1": first, "2": second})
        self.verified("--input-name", "day1/data.csv", "-", count=100, stdin=first)
        self.verified("--input-name", "day2/data.csv", "-", count=250, stdin=second)

    def test_a_small_file_does_not_wait(self):
        """a small file is loaded while another load, which has nothing to do with it, goes on"""
        texts = self.inputs({"g1.csv": rows(10, 1), "g2.csv": rows(10, 2)})
        other = self.start_held("g1.csv")
        self.wait_for_documents(10, other)
        counts, _ = self.ends_by_itself(self.start("g2.csv"))
        self.assertEqual(10, counts["loaded"])
        more = rows(5, 3)
        self.ended(other, (0,), more)
        self.exact({**texts, "-": more})

    @livetest.nightly
    def test_a_slow_tail_is_not_taken_over(self):
        """a load that has read all and sends slowly, for longer than a lease, keeps its file: it is alive"""
        texts = self.inputs({"a.csv": rows(1000, 2)})
        rate = max(1, int(1000 / (2.2 * self.lease)))
        first = self.start("-j", "1", "-b", "50", "--max-rate", rate, "--patience", "10m", "a.csv")
        self.wait_for_documents(1, first)
        second = self.start("-j", "1", "a.csv")
        counts, _ = self.ended(first)
        self.exact(texts)
        self.assertEqual((1000, 0), (counts["loaded"], self.ended(second)[0]["loaded"]), "a live load was taken over")
        self.complete(texts)


if __name__ == "__main__":
    neverlost.main()
