"""Thirty nights of a feed whose columns come, go, move and change their type, with files that are delivered again, cut short and
half-written: the same documents whichever way they are loaded, and those that an independent program makes (tests/lib/feedlab.py)."""
# needs: standalone
import collections
import json
import os
import pathlib
import re
import subprocess

import feedlab
import live
import livetest

ROWS = int(os.environ.get("TIPPLE_FEED_ROWS", 200))
PAGE = pathlib.Path(live.ROOT) / "docs/every-night.md"
TYPES = [word for name, kind in feedlab.CHANGING.items() for word in ("--type", "%s:%s" % (name, kind))]
SICK = {7: 2, 11: 2}  # a record that was cut off is a reject until its file is whole; a half-written .gz is left out


class Feed(livetest.Case):
    format = None

    def setUp(self):
        super().setUp()
        self.nights = feedlab.nights(ROWS)

    def deliver(self, way, day):
        for name, content in self.nights[day - 1].items():
            self.write("%s/%s" % (way, name), content)

    def last(self):
        """What each file holds in the end."""
        return {name: content for files in self.nights for name, content in files.items()}

    def types_of(self, way, day):
        """--type of each column whose type changes, from the day on which it comes."""
        return [] if way.startswith("guessed") else TYPES[:2 if day < feedlab.SINCE["weight"] else None]

    def stored(self, way):
        return collections.Counter(tuple((key, type(value).__name__, value) for key, value in document.items() if key != "_id")
                                   for document in self.documents(way))

    def cron(self, way, more):
        """Runs the command of the page's crontab with these options, from cron's environment; its status."""
        (line,) = re.findall(r"^    15 2 \* \* \*  (flock .*--skip-bad-files.*)$", PAGE.read_text(), re.M)
        uri, folder = self.write(way + ".uri", self.uri(way) + "\n"), self.folder
        for words, instead in (("/var/lock/orders", folder / "lock"), ("/usr/bin/tipple load", " ".join([live.TIPPLE, "load", *more])),
                               ("/etc/tipple/uri", uri), ("/var/lib/tipple/orders.rejects", folder / (way + ".rejects")),
                               ("/data/incoming/", folder / way)):
            self.assertIn(words, line)
            line = line.replace(words, str(instead))
        done = subprocess.run(["env", "-i", "HOME=" + str(folder), "PATH=/usr/bin:/bin", "SHELL=/bin/sh", "sh", "-c", line],
                              cwd=folder, capture_output=True, text=True, timeout=live.LONG)
        self.said = done.stdout + done.stderr
        return done.returncode

    def verifies(self, way, day):
        names = sorted("%s/%s" % (way, path.name) for path in (self.folder / way).iterdir())
        if day == 11:
            names.remove("%s/%s" % (way, feedlab.name_of(11, ".gz")))
        self.tipple("verify", "--uri", self.uri(way), *names)

    def nightly(self, way):
        """Each night the line of the page; verify finds nothing after any of them."""
        for day in range(1, feedlab.DAYS + 1):
            self.deliver(way, day)
            self.assertEqual(SICK.get(day, 0), self.cron(way, self.types_of(way, day)), "day %d: %s" % (day, self.said))
            self.verifies(way, day)

    def once(self, way):
        """All files, in one command."""
        for day in range(1, feedlab.DAYS + 1):
            self.deliver(way, day)
        self.load(way, *self.types_of(way, feedlab.DAYS), collection=way)

    def both(self, way):
        """Each night two loads at once, which are killed on two of the nights and run again."""
        for day in range(1, feedlab.DAYS + 1):
            self.deliver(way, day)
            words = ["load", way, "--uri", self.uri(way), "--skip-bad-files", *self.types_of(way, day)]
            if day in (10, 23):
                self.shorten_lease(collection=way)
                self.killed(words, self.client.count(self.database, way))
            pair = [subprocess.Popen(self.command(*words, "--rejects", "%s.%d" % (way, number)), cwd=self.folder,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for number in (1, 2)]
            for process in pair:
                said = process.communicate(timeout=live.LONG)[0]
                self.assertEqual(SICK.get(day, 0), process.returncode, "day %d: %s" % (day, said))

    def killed(self, words, count):
        pair = [self.start(words=words) for _ in (1, 2)]
        livetest.wait_for(lambda: self.client.count(self.database, words[1]) > count + 20)
        for process in pair:
            self.assertIsNone(process.poll(), "it ended before it was killed")
            self.kill(process)

    def start(self, words):
        process = subprocess.Popen(self.command(*words, "--batch", 5, "--threads", 1, "--max-rate", ROWS // 4), cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        return process

    def independent(self, way):
        """By the types of the kept format, as status prints it."""
        said = json.loads(self.tipple("status", "--json", "--uri", self.uri(way)).stdout)
        fields = feedlab.fields_of(said["format_text"])
        return fields, collections.Counter(feedlab.documents(fields, self.last().values()))

    def all_ways(self, kind):
        found = {}
        for way in (self.nightly, self.once, self.both):
            name = "%s_%s" % (kind, way.__name__)
            with self.subTest(name):
                way(name)
                fields, expected = self.independent(name)
                self.assertEqual({*feedlab.BASE, *feedlab.SINCE}, {field["name"] for field in fields})
                stored = self.stored(name)
                self.assertEqual(sum(expected.values()), sum(stored.values()))
                self.assertEqual([], list((stored - expected).items())[:3] + list((expected - stored).items())[:3])
                found[name] = collections.Counter()
                for document, count in stored.items():
                    found[name][tuple(sorted(document))] += count
        return found

    def test_typed(self):
        """with --type for each column whose type changes all ways make the same documents"""
        first, *others = self.all_ways("typed").values()
        self.assertEqual(2, len(others))
        for other in others:
            self.assertEqual([], list((first - other).items())[:3] + list((other - first).items())[:3])

    def test_guessed(self):
        """by the guess alone each way makes what its kept format says"""
        self.all_ways("guessed")


if __name__ == "__main__":
    livetest.main()
