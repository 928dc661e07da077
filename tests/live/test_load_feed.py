"""Thirty nights of a feed whose columns come, go, move and change their type, with files that are delivered again, cut short and
half-written: what an independent program makes of them (tests/lib/feedlab.py) is in the collection."""
# needs: standalone
import collections
import os

import feedlab
import livetest

ROWS = int(os.environ.get("TIPPLE_FEED_ROWS", 200))
TYPES = [word for name, kind in feedlab.CHANGING.items() for word in ("--type", "%s:%s" % (name, kind))]


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

    def once(self, way):
        """All files, in one command."""
        for day in range(1, feedlab.DAYS + 1):
            self.deliver(way, day)
        self.load(way, *self.types_of(way, feedlab.DAYS), collection=way)

    def independent(self, way):
        """By the format that is kept."""
        fields = feedlab.fields_of(self.header(way)["formatText"])
        return fields, collections.Counter(feedlab.documents(fields, self.last().values()))

    def makes(self, way, load):
        load(way)
        fields, expected = self.independent(way)
        self.assertEqual({*feedlab.BASE, *feedlab.SINCE}, {field["name"] for field in fields})
        stored = self.stored(way)
        self.assertEqual(sum(expected.values()), sum(stored.values()))
        self.assertEqual([], list((stored - expected).items())[:3] + list((expected - stored).items())[:3])

    def test_typed(self):
        """with --type for each column whose type changes"""
        self.makes("typed_once", self.once)

    def test_guessed(self):
        """by the guess alone"""
        self.makes("guessed_once", self.once)


if __name__ == "__main__":
    livetest.main()
