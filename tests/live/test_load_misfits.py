"""Inputs that do not fit the format: found before anything is dropped or written, all named at once, or skipped.
needs: standalone; nightly on: replset; quick: yes"""
import gzip
import os
import subprocess

import live
import livetest
from livetest import rows

OTHER = b"x|y\n1|2\n"  # for format t, which reads headers by name
FORMAT = "format: t\nrecord: {delimiter: ['|'], header: yes}\nfields:\n  - {name: test_id, type: int}\n  - {name: make}\n"


class Misfits(livetest.Case):
    format = "t.yaml"

    def setUp(self):
        super().setUp()
        self.write("t.yaml", FORMAT)

    def there(self, collection="results"):
        return self.client.count(self.database, collection)

    def test_later_members_of_a_packed_tar(self):
        """they are looked at when they are reached; the sentence says what was loaded before, or they are skipped"""
        members = [("%d.csv" % number, OTHER if number == 3 else rows(3, number)) for number in range(1, 6)]
        self.write("a.tar.gz", gzip.compress(livetest.tar_of(*members)))
        self.load("a.tar.gz", status=5)
        self.assertRegex(self.stderr, r"a\.tar\.gz!3\.csv:1: .* 6 records of 2 files")
        self.assertEqual(6, self.there())
        for loaded in (6, 0):
            said = self.load("a.tar.gz", "--skip-bad-files", status=2)
            self.assertEqual(["a.tar.gz!3.csv"], [file["name"] for file in said["skipped_files"]])
            self.assertIn("no column 'test_id'", said["skipped_files"][0]["reason"])
            self.assertEqual(loaded, said["loaded"])
            self.assertRegex(self.stderr, r"1 of 5 files is skipped\n  a\.tar\.gz!3\.csv:1: ")
        self.assertEqual(12, self.there())

    def test_gone_or_changed_meanwhile(self):
        """what is replaced after it was looked at is refused when it is reached, or skipped"""
        for number, skip in enumerate(([], ["--skip-bad-files"])):
            collection = "meanwhile%d" % number
            self.write("a.csv", rows(500, 1))  # more than is kept of a file from when it was looked at
            os.mkfifo(self.folder / collection)
            load = subprocess.Popen(self.command(*self.words(
                collection, "a.csv", "--limit", "1000000", *skip, collection=collection)), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            with open(self.folder / collection, "wb") as pipe:  # with a limit there is one feeder, and it waits here
                pipe.write(rows(5, 7))
                pipe.flush()
                self.write("a.csv", rows(9, 9))
            out, err = load.communicate(timeout=livetest.LONG)
            self.assertEqual(2 if skip else 5, load.returncode, err)
            self.assertIn(b"a.csv: changed", err)
            self.assertIn(b"1 of 2 files is skipped" if skip else b"; 5 records of 1 file", err)
            self.assertEqual(5, self.there(collection))


if __name__ == "__main__":
    assert live.TIPPLE
    livetest.main()
