"""Inputs that are not what they were when their load began: what then is in the collection is told, or refused.
needs: replset; nightly on: standalone; nightly: loads are killed at random moments"""
import gzip
import json
import os
import re
import shlex
import shutil

import live
import livetest
from livetest import rows
from minimongo import Int64


TWO_LAYOUTS = """format: two
record: {delimiter: ",", header: no}
fields: [{name: a, type: int}, {name: b}, {name: c}]
layouts: [[a, b], [a, b, c]]
"""


def blank(text, number):
    """A record is nothing but line ends, so that the others stay where they are."""
    lines = text.splitlines(keepends=True)
    lines[number] = b"\n" * len(lines[number])
    return b"".join(lines)


class Changed(livetest.Case):
    def verifies(self, *names, status=0):
        return self.tipple("verify", "-f", "mot", "--uri", self.uri(), *names, status=status).stdout

    def edit(self, name, text):
        """Another time, whatever the clock's grain is."""
        self.write(name, text)
        os.utime(self.folder / name, ns=(1, 10**18))

    def is_refused(self, name, status=5):
        self.load(name, status=status)
        self.assertRegex(self.stderr, "%s has changed" % name)
        self.assertIn("--reload-changed", self.stderr)

    def reloads(self, name, status=0):
        self.shorten_lease()
        self.load(name, "--reload-changed", status=status)
        self.verifies(name)

    def test_linked_since(self):
        """an input that is now another one's file, too, stays an input of its own: --reload-changed of the other leaves it"""
        for number, name in enumerate(("d/x.csv", "e/x.csv")):
            self.write(name, rows(300, number))
            self.load(name)
        self.edit("d/x.csv", rows(200, 2))
        (self.folder / "e/x.csv").unlink()
        os.link(self.folder / "d/x.csv", self.folder / "e/x.csv")
        self.reloads("d/x.csv")
        self.assertEqual(200 + 300, self.client.count(self.database, "results"))

    def test_two_of_a_name(self):
        """a name that two inputs have: --reload-changed of a third content under it removes neither of them"""
        for number, words in enumerate((["day.csv"], ["day.csv", "old0/day.csv"], [])):
            self.edit("day.csv", rows(100 + number, number))
            if words:
                self.load(*words)
                (self.folder / ("old%d" % number)).mkdir()
                (self.folder / "day.csv").rename(self.folder / ("old%d" % number) / "day.csv")
        for words in [], ["--reload-changed"], ["--reload-changed", "old1/day.csv"]:
            self.load("day.csv", *words, status=5)
            self.assertIn("day.csv has other content", self.stderr)
        self.assertEqual(100 + 101, self.client.count(self.database, "results"))
        self.assertEqual(102, self.load("day.csv", "old0/day.csv", "old1/day.csv", "--reload-changed")["loaded"])
        self.assertEqual(100 + 101 + 102, self.client.count(self.database, "results"))

    def test_moved_and_grown_beside_another(self):
        """a file in the place of one that was moved, and both grow: each is known"""
        self.write("day.csv", rows(100, 0))
        self.load("day.csv")
        (self.folder / "old").mkdir()
        (self.folder / "day.csv").rename(self.folder / "old/day.csv")
        self.write("day.csv", rows(80, 1))
        self.assertEqual(80, self.load("day.csv", "old/day.csv")["loaded"])
        self.write("old/day.csv", rows(101, 0))
        self.assertEqual(1, self.load("day.csv", "old/day.csv")["loaded"])
        self.write("old/day.csv", rows(103, 0))
        self.write("day.csv", rows(81, 1))
        self.assertEqual(3, self.load("day.csv", "old/day.csv")["loaded"])
        self.assertEqual(103 + 81, self.client.count(self.database, "results"))

    def test_moved_grown_and_replaced(self):
        """a file that was moved and has grown, and another one in its old place, in one command: neither is taken for the other"""
        self.write("day.csv", rows(100, 0))
        self.load("day.csv")
        self.write("old/day.csv", rows(103, 0))
        self.edit("day.csv", rows(80, 1))
        self.load("day.csv", status=5)
        for words in (["day.csv", "old/day.csv"], ["old/day.csv", "day.csv", "--reload-changed"]):
            self.load(*words)
            self.assertEqual(103 + 80, self.client.count(self.database, "results"))
            self.verifies("day.csv", "old/day.csv")

    def test_moved_over_another(self):
        """a file that was moved to where an empty, or a shorter one with the same beginning, was loaded from, and has grown"""
        for before in (0, 40):
            with self.subTest(before=before):
                self.write("src/day.csv", rows(100, 0))
                self.write("done/day.csv", rows(before, 0))
                self.load("src/day.csv", "done/day.csv")
                (self.folder / "src/day.csv").rename(self.folder / "done/day.csv")
                self.write("done/day.csv", rows(105, 0))
                self.assertEqual(5, self.load("done/day.csv")["loaded"])
                self.assertRegex(self.stderr, "done/day.csv is the file .* src/day.csv .*grown")
                self.assertEqual(before + 105, self.client.count(self.database, "results"))
                self.assertEqual(0, self.load("done/day.csv")["loaded"])
                self.verifies("done/day.csv")
                self.client.drop_database(self.database)

    def test_another_name_that_begins_alike(self):
        """a new file of another name is a new one, also where one of the next name is gone, and it begins with all of that"""
        self.write("b.csv", rows(40, 0))
        self.load("b.csv")
        (self.folder / "b.csv").unlink()
        for name in ("c/b.csv", "a.csv", "c.csv"):
            self.write(name, rows(50, 0))
        self.assertEqual(10 + 50 + 50, self.load("c/b.csv", "a.csv", "c.csv")["loaded"])

    def test_two_that_begin_alike(self):
        """one stays and one is moved, both grow, and one could be either: each is itself"""
        self.write("a/day.csv", rows(40, 0))
        self.write("b/day.csv", rows(60, 0))
        self.load("a/day.csv", "b/day.csv")
        (self.folder / "b/day.csv").unlink()
        self.write("a/day.csv", rows(70, 0))
        self.write("c/day.csv", rows(80, 0))
        self.assertEqual(30 + 20, self.load("a/day.csv", "c/day.csv")["loaded"])
        self.assertEqual(70 + 80, self.client.count(self.database, "results"))
        self.verifies("a/day.csv", "c/day.csv")

    def test_swapped_that_begin_alike(self):
        """two files that are swapped, or moved on by one place, one of which begins with the other: nothing is loaded again"""
        self.write("p/s.csv", rows(40, 0))
        self.write("q/s.csv", rows(60, 0))
        self.load("p/s.csv", "q/s.csv")
        (self.folder / "p/s.csv").rename(self.folder / "t")
        (self.folder / "q/s.csv").rename(self.folder / "p/s.csv")
        (self.folder / "t").rename(self.folder / "q/s.csv")
        for inputs in (["p/s.csv", "q/s.csv"], ["q/s.csv", "p/s.csv"]):
            self.assertEqual(0, self.load(*inputs)["loaded"])
        (self.folder / "r").mkdir()
        (self.folder / "p/s.csv").rename(self.folder / "r/s.csv")
        (self.folder / "q/s.csv").rename(self.folder / "p/s.csv")
        self.assertEqual(0, self.load("p/s.csv", "r/s.csv")["loaded"])
        self.assertEqual(40 + 60, self.client.count(self.database, "results"))

    def test_two_entries_of_one_file(self):
        """a file that was loaded by two names, once empty or shorter: when it grows, it is the longer one"""
        for before in (0, 40):
            with self.subTest(before=before):
                self.write("1/x.csv", rows(before, 0))
                self.write("2/x.csv", rows(100, 0))
                (self.folder / "latest").symlink_to("1")
                self.load("latest/x.csv", "2/x.csv")
                (self.folder / "latest").unlink()
                (self.folder / "latest").symlink_to("2")
                self.write("2/x.csv", rows(105, 0))
                self.assertEqual(5, self.load(*("latest/x.csv" if not before else str(self.folder / "2/x.csv"),))["loaded"])
                self.assertEqual(before + 105, self.client.count(self.database, "results"))
                (self.folder / "latest").unlink()
                self.client.drop_database(self.database)

    def test_moved_to_the_place_of_another(self):
        """then it grows: it is known, --reload-changed leaves the other one's documents, and so does forget"""
        for words in ([], ["--reload-changed"]):
            with self.subTest(words=words):
                self.write("0/x.csv", rows(100, 0))
                self.write("1/x.csv", rows(100, 1))
                self.load("0/x.csv", "1/x.csv")
                (self.folder / "1/x.csv").rename(self.folder / "0/x.csv")
                self.assertEqual(0, self.load("0/x.csv", *words)["loaded"])
                self.write("0/x.csv", rows(103, 1))
                self.assertEqual(3, self.load("0/x.csv", *words)["loaded"])
                self.assertEqual(100 + 103, self.client.count(self.database, "results"))
                said = self.tipple("forget", "--delete", "--yes", "0/x.csv", "--uri", self.uri(), status=1).stderr
                self.assertRegex(said, "0/x.csv today .* 1/x.csv#1, .* 0/x.csv#0")
                self.client.drop_database(self.database)

    def test_told_beside_a_changed_one(self):
        """what is told of new inputs is told, too, where --reload-changed removes another one's documents"""
        for number, name in enumerate(("a.csv", "x/c.csv", "p/u.csv", "q/u.csv", "e.csv")):
            self.write(name, rows(100, min(number, 2)) + (b"" if name != "q/u.csv" else rows(1, 8)))
        self.load("a.csv", "x/c.csv", "p/u.csv", "q/u.csv")
        (self.folder / "x/c.csv").unlink()
        self.edit("y/c.csv", rows(100, 5))
        self.edit("a.csv", rows(100, 6))
        for name in ("p/u.csv", "q/u.csv"):
            (self.folder / name).unlink()
        self.write("r/u.csv", rows(100, 2) + rows(1, 8) + rows(1, 9))
        self.shorten_lease()
        self.load("a.csv", "y/c.csv", "r/u.csv", "e.csv", "--reload-changed")
        self.assertRegex(self.stderr, "y/c.csv .* x/c.csv, which is not there")
        self.assertRegex(self.stderr, "r/u.csv begins with .* 2 files")
        self.assertIn("e.csv has another name than p/u.csv", self.stderr)

    def test_moved_and_changed(self):
        """nobody knows that it is the same file: it is loaded as another one, and that is told; not so if the first one stays"""
        for keeps in (False, True):
            self.write("a/day.csv", rows(100, keeps))
            self.load("a/day.csv")
            (self.folder / "b").mkdir(exist_ok=True)
            if not keeps:
                (self.folder / "a/day.csv").rename(self.folder / "b/day.csv")
            self.edit("b/day.csv", rows(100, 7 + keeps))
            self.assertEqual(100, self.load("b/day.csv")["loaded"])
            (self.assertNotIn if keeps else self.assertIn)("same name as a/day.csv", self.stderr)
            self.client.drop_database(self.database)

    def test_come_and_go(self):
        """files of one name, in a folder for each day, that are taken away later: only the second one could be the first one, changed"""
        for day in range(4):
            self.write("%d/x.csv" % day, rows(100, day))
            self.load("%d/x.csv" % day)
            (self.assertIn if day == 1 else self.assertNotIn)("moved and changed", self.stderr)
            (self.folder / ("%d/x.csv" % day)).unlink()

    def test_facts_only(self):
        """notes tell what is known of both, choose neither of them, and print no command"""
        self.write("2024/x.csv", rows(100, 1))
        self.load("2024/x.csv")
        (self.folder / "2024/x.csv").rename(self.folder / "x-jan.csv")
        self.write("2025/x.csv", rows(100, 2))
        self.load("x-jan.csv", "2025/x.csv")
        self.assertRegex(self.stderr, "x-jan.csv .* than 2024/x.csv, .*same size")
        self.assertRegex(self.stderr, "2025/x.csv .* 2024/x.csv, which is not there")
        self.assertEqual(2, self.stderr.count("as another file"))
        self.assertIn("docs/resume.md", self.stderr)
        self.assertNotIn("forget", self.stderr)

    def test_renamed_when_interrupted(self):
        """the other one is not loaded to its end: that is told, and by taking it out, as the page says, all is there once"""
        self.write("a.csv", rows(9000, 1))
        self.load("a.csv", "--limit", 6000)
        (self.folder / "a.csv").rename(self.folder / "b.csv")
        self.load("b.csv")
        self.assertIn("a.csv is not loaded", self.stderr)
        self.shorten_lease()
        self.tipple("forget", "--delete", "--yes", "a.csv#0", "--uri", self.uri())
        self.assertEqual(0, self.load("b.csv")["loaded"])
        self.assertEqual(9000, self.client.count(self.database, "results"))
        self.verifies("b.csv")

    def test_same_command_again(self):
        """a file that was moved, recognised, and copied back, and a link whose first name was removed: the same command loads nothing"""
        self.write("d/x.csv", rows(300, 1))
        self.load("d/x.csv")
        (self.folder / "e").mkdir()
        (self.folder / "d/x.csv").rename(self.folder / "e/x.csv")
        self.assertEqual(0, self.load("e/x.csv")["loaded"])
        shutil.copy(self.folder / "e/x.csv", self.folder / "d/x.csv")
        for name in "e/x.csv", "d/x.csv", "e/x.csv":
            self.assertEqual(0, self.load(name)["loaded"])
        os.link(self.folder / "d/x.csv", self.folder / "y.csv")
        self.assertEqual(0, self.load("y.csv")["loaded"])
        (self.folder / "d/x.csv").unlink()
        self.assertEqual(0, self.load("y.csv")["loaded"])
        self.write("y.csv", rows(300, 1) + rows(20, 2, header=False))
        self.assertEqual(20, self.load("y.csv")["loaded"])
        self.assertEqual(320, self.client.count(self.database, "results"))
        self.verifies("y.csv")

    def test_edited_in_its_new_place(self):
        """a file that was moved, recognised, and edited there has changed, as one that was not moved; another one in a place that it
        had, while it stands elsewhere, is another one"""
        for name in "mon/x.csv", "tue/x.csv":
            self.write(name, rows(30, len(name) + ord(name[0])))
        self.load("mon", "tue")
        (self.folder / "done").mkdir()
        for name in "mon", "tue":
            (self.folder / name).rename(self.folder / "done" / name)
        self.assertEqual(0, self.load("done/mon", "done/tue")["loaded"])
        text = (self.folder / "done/mon/x.csv").read_bytes()
        self.write("done/mon/x.csv", rows(30, 77))
        self.load("done/mon", status=5)
        self.assertIn("done/mon/x.csv has changed", self.stderr)
        self.shorten_lease()
        self.assertEqual(30, self.load("done/mon", "--reload-changed")["loaded"])
        self.assertEqual(60, self.client.count(self.database, "results"))
        self.verifies("done/mon", "done/tue")
        self.write("done/tue/x.csv", text)
        self.load("done/tue", status=5)

    def test_copied_from_its_new_place(self):
        """a copy of a file that was moved and recognised is another one, since that stands in its new place"""
        self.write("d/x.csv", rows(30, 1))
        self.load("d/x.csv")
        (self.folder / "e").mkdir()
        (self.folder / "d/x.csv").rename(self.folder / "e/x.csv")
        self.load("e/x.csv")
        (self.folder / "f").mkdir()
        shutil.copy(self.folder / "e/x.csv", self.folder / "f/x.csv")
        self.assertEqual(30, self.load("f/x.csv")["loaded"])
        self.assertRegex(self.stderr, "f/x.csv has .* d/x.csv: .*another file")

    def test_refused_while_loaded(self):
        """--reload-changed of what another load works on is refused, and no removal is told before that"""
        self.write("a.csv", rows(5000, 1))
        load = self.start("-b", "50", "-j", "1", "--max-rate", "500", "a.csv")
        livetest.wait_for(lambda: self.client.count(self.database, "results") > 0)
        self.write("b.csv", rows(10, 2))
        os.replace(self.folder / "b.csv", self.folder / "a.csv")
        self.load("a.csv", "--reload-changed", status=1)
        self.assertIn("a.csv is being loaded", self.stderr)
        self.assertNotIn("are removed", self.stderr)
        self.kill(load)

    def test_own_ids(self):
        """documents of which only some bring an _id: of the others a renamed file brings second ones, and that is told; by --id it brings none"""
        self.format = None
        text = b"".join(b'{"_id": "x%d", "v": 1}\n{"v": 2}\n' % number for number in range(100))
        for words in [], ["--existing", "replace"]:
            self.write("a.json", text)
            self.load("a.json", *words)
            (self.folder / "a.json").rename(self.folder / "b.json")
            self.load("b.json")
            self.assertEqual(300, self.client.count(self.database, "results"))
            self.assertIn("there twice", self.stderr)
            self.client.drop_database(self.database)
        self.write("a.csv", b"k,v\n1,1\n2,2\n")
        self.load("a.csv", "--id", "k")
        (self.folder / "a.csv").rename(self.folder / "b.csv")
        self.load("b.csv")
        self.assertNotIn("twice", self.stderr)

    def test_reloaded_in_its_place(self):
        """a changed file is itself: it is told to be no other one of its name that is gone"""
        self.write("jan/x.csv", rows(100, 1))
        self.write("feb/x.csv", rows(100, 2))
        self.load("jan/x.csv", "feb/x.csv")
        (self.folder / "jan/x.csv").unlink()
        self.edit("feb/x.csv", rows(100, 3))
        self.shorten_lease()
        self.load("feb/x.csv", "--reload-changed")
        self.assertNotIn("moved and changed", self.stderr)

    def test_went_another_way(self):
        """files that only begin alike, with the same header, or as one was before it grew or changed, are others"""
        header = rows(0, 1)
        self.write("01.csv", header)
        self.load("01.csv")
        self.edit("01.csv", header + rows(100, 1, header=False))
        self.load("01.csv")
        self.write("02.csv", rows(100, 2))
        self.load("02.csv")
        self.edit("02.csv", rows(100, 2) + rows(10, 3, header=False))
        self.load("02.csv")
        self.write("03.csv", rows(100, 2) + rows(10, 4, header=False))
        self.load("03.csv")
        self.edit("02.csv", rows(100, 5) + rows(100, 6, header=False))
        self.write("04.csv", rows(100, 5))
        self.load("04.csv")
        self.assertNotIn("another name", self.stderr)

    def test_part_of_an_input(self):
        """the file that a new one begins is an input, by another path than it was loaded by"""
        self.write("data/big.csv", rows(100, 1))
        self.load("data/big.csv")
        (self.folder / "data").rename(self.folder / "there")
        self.write("there/try.csv", rows(10, 1))
        self.load("there/big.csv", "there/try.csv")
        self.assertRegex(self.stderr, "there/try.csv .* than data/big.csv, .*same beginning")

    def test_link_moved_on(self):
        """a link that leads to another file now: that file is not taken for what was loaded by the link, which stays"""
        for number, name in enumerate(("2023/x.csv", "2024/x.csv")):
            self.write(name, rows(300 + number, number))
        (self.folder / "latest").symlink_to("2023")
        self.load("latest/x.csv")
        (self.folder / "latest").unlink()
        (self.folder / "latest").symlink_to("2024")
        self.assertEqual(301, self.load("2024/x.csv")["loaded"])
        self.assertRegex(self.stderr, "2024/x.csv .* latest/x.csv leads to")
        self.assertEqual(0, self.load("2024/x.csv", "--reload-changed")["loaded"])
        self.assertEqual(0, self.load("2023/x.csv", "2024/x.csv")["loaded"])
        self.assertEqual(300 + 301, self.client.count(self.database, "results"))

    def test_link_beside_it(self):
        """a link of another name, in the same folder, whose name is first: the file has grown, or has changed"""
        for grown in True, False:
            self.write("logs/server.csv", rows(300, 0))
            self.load("logs")
            (self.folder / "logs/current.csv").symlink_to("server.csv")
            if grown:
                self.edit("logs/server.csv", rows(300, 0) + rows(50, 1))
                self.assertEqual(50, self.load("logs")["loaded"])
                self.assertRegex(self.stderr, "logs/current.csv is the file .* logs/server.csv")
                self.assertEqual(350, self.client.count(self.database, "results"))
            else:
                self.edit("logs/server.csv", rows(300, 2))
                self.load("logs", status=5)
                self.assertIn("name it logs/server.csv, with --reload-changed", self.stderr)
                self.reloads("logs/server.csv")
                self.assertEqual(300, self.client.count(self.database, "results"))
                self.assertEqual(0, self.load("logs")["loaded"])
            (self.folder / "logs/current.csv").unlink()
            self.client.drop_database(self.database)

    def test_latest(self):
        """a link that was loaded leads to a new file now: that is loaded, and the link is told"""
        self.write("01.csv", rows(300, 1))
        (self.folder / "latest.csv").symlink_to("01.csv")
        self.load("latest.csv")
        self.write("02.csv", rows(200, 2))
        (self.folder / "latest.csv").unlink()
        (self.folder / "latest.csv").symlink_to("02.csv")
        self.assertEqual(200, self.load("02.csv")["loaded"])
        self.assertRegex(self.stderr, "02.csv .* latest.csv leads to")
        self.tipple("forget", "--delete", "--yes", "latest.csv#0", "--uri", self.uri())
        self.assertEqual(200, self.client.count(self.database, "results"))

    def test_name_of_another_folder(self):
        """what was typed is the name of another folder's file, and the file is known by its whole path: nothing of the other is removed"""
        for number, name in enumerate(("jan/x.csv", "feb/x.csv")):
            self.write(name, rows(300 + number, number))
        top = self.folder
        whole = str(top / "feb/x.csv")
        self.folder = top / "jan"
        self.load("x.csv")
        self.load(whole)
        self.folder = top / "feb"
        self.edit("x.csv", rows(200, 2))
        for words in [], ["--reload-changed"]:
            self.load("x.csv", *words, status=5)
            self.assertIn("was loaded as %s" % whole, self.stderr)
        self.reloads(whole)
        self.folder = top
        self.assertEqual(300 + 200, self.client.count(self.database, "results"))

    def test_renamed_and_grown(self):
        """a log that was rotated is another file: that is told, whatever has its old name, and was in its new place"""
        for other in None, b"", rows(5, 3):
            for before in None, b"":
                self.write("app.log", rows(300, 1))
                if before is not None:
                    self.write("app.log.1", before)
                    self.load("app.log.1")
                self.load("app.log")
                self.edit("app.log.1", rows(300, 1) + rows(20, 2))
                (self.folder / "app.log").unlink()
                if other is not None:
                    self.write("app.log", other)
                self.assertEqual(320, self.load("app.log.1")["loaded"])
                self.assertRegex(self.stderr, "app.log.1 .* than app.log, and begins")
                (self.folder / "app.log.1").unlink()
                self.client.drop_database(self.database)

    def test_alike_in_one_load(self):
        """a copy, and a file that another one begins with, are told where one command names both; not those without records"""
        self.write("a.csv", rows(100, 1))
        self.write("a (1).csv", rows(100, 1))
        self.write("b.csv", rows(100, 1) + rows(50, 2, header=False))
        self.write("c.csv", rows(100, 3))
        self.load("a.csv", "a (1).csv", "b.csv", "c.csv")
        self.assertRegex(self.stderr, "a .1..csv .* than a.csv, .*same size")
        self.assertRegex(self.stderr, "b.csv .* than a.csv, and begins")
        self.assertEqual(2, self.stderr.count("as another file"))
        self.load("a.csv", "a (1).csv", "b.csv", "c.csv")
        self.assertNotIn("another name", self.stderr)

    def test_earlier_version_of_another_name(self):
        """a copy of what a file was before it grew, whether it was loaded so or not, and one that grows to what another one is"""
        self.write("log.csv", rows(100, 1))
        self.write("old.csv", rows(100, 1))
        self.write("between.csv", rows(100, 1) + rows(10, 2, header=False))
        self.load("log.csv")
        self.edit("log.csv", rows(100, 1) + rows(20, 2, header=False))
        self.load("log.csv")
        for name in "old.csv", "between.csv":
            self.load(name)
            self.assertRegex(self.stderr, "%s .* than log.csv, .*same beginning" % name)
        self.write("c.csv", rows(10, 1))
        self.load("c.csv")
        self.edit("c.csv", rows(100, 1) + rows(20, 2, header=False))
        self.load("c.csv")
        self.assertRegex(self.stderr, "c.csv .* than log.csv, .*same size")

    def test_onto_an_empty_one(self):
        """where an empty file was loaded before, what comes there is told as a new one is"""
        self.write("a.csv", rows(100, 1))
        self.write("b.csv", b"")
        self.load("a.csv", "b.csv")
        (self.folder / "a.csv").rename(self.folder / "b.csv")
        self.assertEqual(100, self.load("b.csv")["loaded"])
        self.assertIn("b.csv has another name than a.csv", self.stderr)
        self.load("b.csv")
        self.assertNotIn("another name", self.stderr)

    def test_equal_ones(self):
        """of two equal files each is itself, by whatever path: one that has changed since is refused"""
        self.write("a/x.csv", rows(100, 1))
        self.write("b/x.csv", rows(100, 1))
        self.load("a", "b")
        self.edit("a/x.csv", rows(100, 2))
        for names in ("a", "b"), (str(self.folder / "a"), str(self.folder / "b")):
            self.load(*names, status=5)
        self.assertEqual(200, self.client.count(self.database, "results"))

    def test_emptied(self):
        """an emptied file is not the empty one that is gone"""
        self.write("p/app.log", b"")
        self.write("q/app.log", rows(300, 1))
        self.load("p", "q")
        (self.folder / "p/app.log").unlink()
        self.edit("q/app.log", b"")
        self.is_refused("q/app.log")

    def test_ends_within_quotes(self):
        """a file that ends within quotes: each line is a record of its own window until more of it tells that it is none"""
        self.write("two.yaml", TWO_LAYOUTS.encode())
        words = ("-f", "./two.yaml", "--uri", self.uri(), "--json")
        lines = b"7,seven\n" * 100000
        for more, status, count in ((b"8,\"eight\"\n", 2, 100001), (b"end\"\n", 5, 100000)):
            with self.subTest(more=more):
                self.client.drop_database(self.database)
                self.write("a.csv", b"1,\"open\n" + lines)
                self.tipple("load", *words, "a.csv", status=2)
                self.tipple("verify", *words, "a.csv")
                self.write("a.csv", b"1,\"open\n" + lines + more)
                self.tipple("load", *words, "a.csv", status=status)
                self.assertEqual(count, len(self.documents()))
                self.shorten_lease()
                self.tipple("load", *words, "--reload-changed", "a.csv", status=2 if status == 2 else 0)
                self.assertEqual(count if status == 2 else 1, len(self.documents()))
                self.tipple("verify", *words, "a.csv")

    def test_layout_stays(self):
        """a file without a header that grows is read by the layout that its first records had"""
        self.write("two.yaml", TWO_LAYOUTS.encode())
        words = ("-f", "./two.yaml", "--uri", self.uri(), "--json")
        for filters, loaded in (((), 3), (("--filter", "b==x"), 0)):
            with self.subTest(filters=filters):
                self.client.drop_database(self.database)
                self.write("a.csv", b"".join(b"%d,y\n" % i for i in range(3)))
                self.tipple("load", *words, *filters, "a.csv")
                self.write("a.csv", b"".join(b"%d,y\n" % i for i in range(3)) + b"7,y,z\n" * 9)
                said = json.loads(self.tipple("load", *words, *filters, "a.csv", status=2).stdout)
                self.assertEqual((loaded, 9), (len(self.documents()), said["rejected"]))
                self.tipple("verify", *words, *filters, "a.csv")
                (self.folder / ("%s.results.rejects" % self.database)).unlink()

    def test_packed_middle(self):
        """a packed file whose middle was edited, with its size and its ends as they were"""
        text = rows(3000, 2, header=False)
        middles = [gzip.compress(middle, 0) for middle in (text, text.replace(b"|FIESTA|", b"|FIASTA|"))]
        ends = gzip.compress(rows(2000, 1), 0), gzip.compress(rows(2000, 3, header=False), 0)
        self.assertEqual(*map(len, middles))
        self.write("a.gz", ends[0] + middles[0] + ends[1])
        self.load("a.gz")
        self.edit("a.gz", ends[0] + middles[0] + ends[1])
        self.assertEqual(0, self.load("a.gz")["read"])  # nothing but its time
        self.write("a.gz", ends[0] + middles[1] + ends[1])
        self.is_refused("a.gz")
        self.reloads("a.gz")

    def test_record_blanked_out(self):
        """a record of a block that was begun is gone: its document is not left behind without a word"""
        text = rows(9000)
        self.write("a.csv", text)
        self.load("a.csv", "--limit", 6000)
        self.edit("a.csv", blank(text, 5500))
        self.is_refused("a.csv")
        self.verifies("a.csv", status=7)
        self.reloads("a.csv")

    def test_record_swallowed(self):
        """a record has become so long that others, whole windows of them, are part of it now"""
        text = rows(9000)
        self.write("a.csv", text)
        self.load("a.csv", "--limit", 8000)
        lines = text.splitlines(keepends=True)
        self.edit("a.csv", b"".join(lines[:1500]) + b"".join(line[:-1] + b"x" for line in lines[1500:7990])
                  + b"".join(lines[7990:]))
        self.is_refused("a.csv")
        self.reloads("a.csv", status=2)  # it is no good record

    def test_document_at_a_reject(self):
        """a rejected record, and a document in its place that nobody knows: said with the reject"""
        text = rows(200, bad={150})
        self.write("a.csv", text)
        counts = self.load("a.csv", "--limit", 150)
        self.assertEqual(150, counts["read"])
        first = self.documents()[0]
        there = {**first, "_id": Int64(first["_id"] + sum(map(len, text.splitlines(keepends=True)[1:151])))}
        self.client.command(self.database, {"insert": "results", "documents": [there]})
        self.load("a.csv", status=2)
        self.assertRegex(self.stderr, "13 fields .* another document")
        self.assertIn(b"extra", self.verifies("a.csv", status=7))

    def test_long_names_of_streams(self):
        """two streams whose names begin alike are two"""
        for last in "ab":
            text = rows(50, ord(last))
            self.assertEqual(50, self.load("-", "--input-name", "\x01" * 200 + last, stdin=text)["loaded"])
        self.assertEqual(100, len(self.documents()))

    def test_streams_without_names(self):
        """a stream without a name that breaks off: what there is of it, and how it is removed"""
        self.load("-", "-b", 100, "--max-rejects", 0, stdin=rows(5000) + b"x\n" * 9, status=3)
        self.assertNotEqual([], self.documents())
        name = re.search("tipple forget (.*) --delete", self.stderr)[1]
        self.assertIn("--input-name", self.stderr)
        self.shorten_lease()
        self.tipple("forget", *shlex.split(name), "--delete", "--yes", "--uri", self.uri())
        self.assertEqual([], self.documents())

    def test_no_answers(self):
        """w=0: without answers nobody could say what was loaded"""
        self.write("a.csv", rows(10))
        uri = self.uri() + ("&" if "?" in self.uri() else "?") + "w=0"
        self.assertEqual(10, self.load("a.csv", "--uri", uri)["loaded"])
        self.refused("w=0 in the URI", "a.csv", "--uri", uri, "--unsafe")


class Fixed(livetest.Case):
    def test_a_header_is_no_record(self):
        """--retry: a fix that is a header line answers nothing"""
        self.write("a.csv", rows(10, bad={3, 5}))
        self.load("a.csv", status=2)
        rejects = self.folder / ("%s.results.rejects" % self.database)
        header, good = rows(10).splitlines()[0], rows(10).splitlines()[4]
        lines = rejects.read_bytes().split(b"\n")
        places = [i for i, line in enumerate(lines) if line and not line.startswith(b"#")]
        lines[places[0]], lines[places[1]] = header, good
        rejects.write_bytes(b"\n".join(lines))
        said = self.load("--retry", rejects.name, status=2)
        self.assertEqual((2, 1, 1), (said["read"], said["loaded"], said["rejected"]))
        self.assertIn("a header, a comment", self.stderr)


if __name__ == "__main__":
    assert live.TIPPLE
    livetest.main()
