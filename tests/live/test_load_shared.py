"""Several loads of the same files at once: they divide the work, and what one leaves another does.  needs: none"""
import gzip
import json
import signal

import livetest
from livetest import Books, rows


class Shared(livetest.OwnServer):
    """A server of its own, so that others' tests do not slow the loads down that must be caught at work."""

    def inputs(self, count=12, each=9000):
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
        return self.begin("-j", "1", "--max-rate", "10k", *words)

    def finish(self, load, status=0):
        out, said = load.communicate(timeout=livetest.LONG)
        self.assertEqual(livetest.ending(load.returncode), status, said.decode())
        return livetest.Counts(json.loads(out)) if out else None

    def whole(self):
        """Everything is there once, and the books add up over all loads."""
        self.holds(self.placed(self.texts))
        total = sum(text.count(b"\n") - 1 for text in self.texts.values())
        self.assertEqual(self.client.count(self.database, "results"), total)
        parts = [part for book in self.files() for part in book.get("parts", [book])]
        self.assertEqual(sum(part["read"] for part in parts), total)
        self.assertEqual(sum(part["loaded"] + part["already"] for part in parts), total)
        self.assertTrue(all(part["complete"] for part in parts))
        again = self.load("in")
        self.assertEqual(again["read"], 0)
        return total

    def test_four_at_once(self):
        self.inputs()
        loads = [self.begin("-j", "2", "-b", "300") for _ in range(4)]
        counts = [self.finish(load) for load in loads]
        total = self.whole()
        self.assertEqual(sum(count["read"] for count in counts), total)
        self.assertEqual(sum(count["loaded"] for count in counts), total)

    def test_parts_of_one_file(self):
        """A plain file of more than two parts of 64 MiB: each is read from its own place on."""
        text = rows(20000, 3)
        lines = text.split(b"\n")
        header, body = lines[0] + b"\n", b"\n".join(lines[1:])
        bad = b"what is this?\n"
        times = (3 * 64 << 20) // len(body) + 1
        at = {17, times - 2}
        content = header + b"".join(body + (bad if number in at else b"") for number in range(times))
        self.write("in/large.csv", content)
        loads = [self.begin("-j", "2") for _ in range(2)]
        said = [livetest.Counts(json.loads(load.communicate(timeout=livetest.LONG)[0])) for load in loads]
        book, = self.files()
        self.assertEqual(len(book["parts"]), 3)
        self.assertEqual([part["complete"] for part in book["parts"]], [True] * 3)
        total = times * 20000
        self.assertEqual(sum(count["read"] for count in said), total + 2)
        self.assertEqual(sum(count["loaded"] for count in said), total)
        self.assertEqual(self.client.count(self.database, "results"), total)
        # the rejects' lines are those of the file, wherever the part began
        entries = [entry for entry in self.entries() if entry[4]]
        lines = sorted(1 + 20000 * (number + 1) + 1 + sum(other < number for other in at) for number in at)
        self.assertEqual(sorted((entry[2], entry[4]) for entry in entries), [(line, bad.strip()) for line in lines])
        for entry in entries:
            self.assertTrue(content.startswith(bad, entry[1]))

    def test_one_is_killed(self):
        """Another one goes on with what it had; it does not wait for a lease, because the process is gone."""
        self.inputs(8)
        first = self.begin_slowly("-b", "20")
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 500))
        others = [self.begin("-j", "1", "-b", "50") for _ in range(2)]
        self.assertTrue(livetest.wait_for(lambda: len(self.loads()) == 3))
        first.kill()
        first.wait()
        for load in others:
            self.finish(load)
        self.whole()

    def test_one_is_stopped_past_its_lease(self):
        """It finds its claims gone, does no harm, and ends well."""
        self.inputs(8)
        first = self.begin_slowly("-b", "20")
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 500))
        first.send_signal(signal.SIGSTOP)
        try:
            self.assertIsNone(first.poll())
            self.finish(self.begin("-j", "2"))
            self.holds(self.placed(self.texts))
            taken = {entry["_id"]: entry["load"] for entry in self.documents("results.tipple.claims")}
        finally:
            first.send_signal(signal.SIGCONT)
        _, said = first.communicate(timeout=livetest.LONG)
        self.assertEqual(first.returncode, 0, said.decode())
        self.assertIn(b"has taken over", said)
        self.whole()
        now = {entry["_id"]: entry["load"] for entry in self.documents("results.tipple.claims")}
        self.assertEqual(taken, now)

    def test_one_is_interrupted(self):
        self.inputs(8)
        first = self.begin_slowly("-b", "20")
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 500))
        second = self.begin("-j", "1", "-b", "50")
        self.assertTrue(livetest.wait_for(lambda: len(self.loads()) == 2))
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=livetest.LONG)
        self.finish(second)
        self.whole()

    def test_more_files_for_one_of_them(self):
        """Loads whose files overlap."""
        self.inputs(12)
        half = sorted(self.texts)[:6]
        one = self.start("-j", "1", *half)
        two = self.begin("-j", "1")
        self.finish(one)
        self.finish(two)
        self.whole()

    def test_blocks_in_doubt_are_read_back(self):
        """After a kill only what is missing is sent: the server has to refuse nothing."""
        text = rows(100000, 4)
        self.write("in/a.csv", text)
        self.texts = {"in/a.csv": text}
        first = self.begin_slowly("-b", "1000")
        self.assertTrue(livetest.wait_for(lambda: self.client.count(self.database, "results") > 3000))
        first.kill()
        first.wait()
        there = self.client.count(self.database, "results")
        self.assertLess(there, 100000, "it ended too early")
        before = self.client.command("admin", {"serverStatus": 1})["opcounters"]["insert"]
        counts = self.load("in")
        after = self.client.command("admin", {"serverStatus": 1})["opcounters"]["insert"]
        done = sum(part["read"] for part in self.files()) - counts["read"]
        self.assertEqual(counts["already_there"] + done, there)
        self.assertEqual(counts["loaded"], 100000 - there)
        self.assertLess(after - before, 100000 - there + 50)  # and the books
        self.whole()


if __name__ == "__main__":
    livetest.main(quick=())
