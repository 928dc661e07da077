"""Several loads of the same files at once: they divide the work, and what one leaves another does.  needs: none"""
import gzip
import json
import signal

import livetest
from livetest import rows


class Shared(livetest.OwnServer):
    """A server of its own, so that others' tests do not slow the loads down that must be caught at work."""

    def inputs(self, count=8, each=1500):
        """Small files, packed ones, and large ones; their texts by name."""
        self.texts = {}
        for number in range(count):
            text = rows(each, number)
            packed = number % 3 == 1
            name = "in/%02d.csv%s" % (number, ".gz" if packed else "")
            self.write(name, gzip.compress(text, 1) if packed else text)
            self.texts[name] = text
        return self.texts

    def begin(self, *words, **more):
        return self.start("--patience", "5m", *words, "in", **more)

    def begin_slowly(self, *words):
        """One that lasts: it is still at work when it is looked at, on any host."""
        return self.begin("-j", "1", "--max-rate", "2k", *words)

    def finish(self, load, status=0):
        out, said = load.communicate(timeout=livetest.LONG)
        self.assertEqual(livetest.ending(load.returncode), status, said.decode())
        return livetest.Counts(json.loads(out)) if out else None

    def whole(self):
        """Everything is there once, and the catalog adds up over all loads."""
        self.holds(self.placed(self.texts))
        total = sum(text.count(b"\n") - 1 for text in self.texts.values())
        self.assertEqual(self.client.count(self.database, "results"), total)
        files = self.files()
        self.assertEqual(sorted(self.texts), sorted(file["path"] for file in files))
        self.assertEqual(sum(file["read"] for file in files), total)
        self.assertEqual(sum(file["loaded"] + file["already"] for file in files), total)
        self.assertTrue(all(file["complete"] for file in files))
        self.assertEqual({None}, {piece["owner"] for file in files for piece in file["pieces"]})
        again = self.load("in")
        self.assertEqual(again["read"], 0)
        return total

    def test_four_at_once(self):
        self.inputs()
        loads = [self.begin("-j", "2", "-b", "300") for _ in range(4)]
        self.assertTrue(livetest.wait_for(lambda: any(load.poll() is not None for load in loads)))
        self.holds(self.placed(self.texts))  # whoever says 0 says it of everything, by whomever it was loaded
        counts = [self.finish(load) for load in loads]
        total = self.whole()
        self.assertEqual(sum(count["read"] for count in counts), total)
        self.assertEqual(sum(count["loaded"] for count in counts), total)

    def test_parts_of_one_file(self):
        """A plain file of more than five parts of 64 MiB: each is read from its own place on. A filter leaves most of its
        records out, so that the server is not what takes long."""
        text = rows(20000, 3)
        lines = text.split(b"\n")
        header, body = lines[0] + b"\n", b"\n".join(lines[1:])
        bad = b"what is this?\n"
        times = (6 * 64 << 20) // len(body) + 1
        at = {17, times // 2, times - 2}
        content = header + b"".join(body + (bad if number in at else b"") for number in range(times))
        self.write("in/large.csv", content)
        loads = [self.begin("-j", "2", "--filter", "t < 300000100") for _ in range(2)]
        said = [livetest.Counts(json.loads(load.communicate(timeout=livetest.LONG)[0])) for load in loads]
        book, = self.files()
        self.assertEqual([piece["complete"] for piece in book["pieces"]], [True] * 6)
        self.assertEqual([(None, 1)] * 6, [(piece["owner"], piece["epoch"]) for piece in book["pieces"]])
        self.assertEqual([[0, -(-len(content) // livetest.WINDOW)]], book["done"])
        self.assertEqual(sum(count["read"] for count in said), times * 20000 + 3)
        self.assertEqual(sum(count["loaded"] for count in said), times * 100)
        self.assertEqual(sum(count["filtered"] for count in said), times * 19900)
        self.assertEqual(self.client.count(self.database, "results"), times * 100)
        # the rejects' lines are those of the file, wherever the part began; nobody counts those of more than 256 MiB
        files = [path.name for path in self.folder.glob("*.rejects*")]  # one a load that had some
        entries = [entry for name in files for entry in self.entries(name) if entry[4]]
        lines = [0, *(1 + 20000 * (number + 1) + 1 + sum(other < number for other in at) for number in sorted(at)[:2])]
        self.assertEqual(sorted((entry[2], entry[4]) for entry in entries), [(line, bad.strip()) for line in lines])
        for entry in entries:
            self.assertTrue(content.startswith(bad, entry[1]))
        heads = "".join((self.folder / name).read_text() for name in files)
        self.assertIn(" -- in/large.csv offset %d: " % content.rindex(bad), heads)
        self.assertIn(" -- in/large.csv:%d:14: " % lines[2], heads)

    def owners(self):
        return {(file["path"], number): (piece["owner"], piece["epoch"])
                for file in self.files() for number, piece in enumerate(file["pieces"])}

    def test_one_is_stopped_past_its_lease(self):
        """It finds its work taken over, does no harm, and ends; the same command finds everything done."""
        self.shorten_lease(3)
        self.inputs()
        first = self.begin_slowly("-b", "20")
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 500))
        first.send_signal(signal.SIGSTOP)
        try:
            self.assertIsNone(first.poll())
            self.finish(self.begin("-j", "2"))
            self.holds(self.placed(self.texts))
            taken = self.owners()
            self.assertLess(1, max(epoch for _, epoch in taken.values()), "nothing was taken over")
        finally:
            first.send_signal(signal.SIGCONT)
        _, said = first.communicate(timeout=livetest.LONG)
        self.assertEqual(first.returncode, 4, said.decode())
        self.assertIn(b"has taken over", said)
        self.finish(self.begin("-j", "2"))
        self.whole()
        self.assertEqual(taken, self.owners())


if __name__ == "__main__":
    livetest.main()
