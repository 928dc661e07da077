#!/usr/bin/env python3
"""Local times that `tipple parse` reads and writes with `timezone:`, from 1900 to 2200, half of them near the changes of the clocks:
by the system's files of 20 zones and by other forms of such files against Python's zoneinfo, and by odd rules against libc.

TIPPLE names the program. TIPPLE_NIGHTLY=1 draws a million times."""
import datetime
import io
import os
import pathlib
import random
import re
import struct
import tempfile
import time
import unittest
import zoneinfo

from reading import date, to_json
from running import NIGHTLY, tipple

ZONES = ["Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu", "America/Sao_Paulo", "Europe/Dublin", "America/New_York",
         "Europe/Berlin", "Pacific/Apia", "Asia/Gaza", "America/Scoresbysund", "Antarctica/Troll", "Pacific/Kiritimati",
         "Europe/Lisbon", "Africa/Monrovia", "America/Caracas", "Asia/Pyongyang", "America/St_Johns", "Asia/Tehran",
         "Pacific/Chatham", "Asia/Manila"]
DRAWS = 50000 if NIGHTLY else 400  # of each zone
EPOCH = datetime.datetime(1970, 1, 1)
FIRST, LAST = (int((datetime.datetime(year, 1, 2) - EPOCH).total_seconds()) for year in (1900, 2200))
SHOWN = "%Y-%m-%d %H:%M:%S"

# Weeks, days with and without the leap day, hours below 0 and above 24, the south, a summer that comes after the winter, one
# that never ends, and names of signs.
RULES = ["CET-1CEST,M3.5.0,M10.5.0/3", "AEST-10AEDT,M10.1.0,M4.1.0/3", "IST-1GMT0,M10.5.0,M3.5.0/1",
         "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "<+0330>-3:30<+0430>,J79/24,J263/24", "AAA-10BBB,J59/2,J60/3",
         "AAA-10BBB,J60/2:30,J300/3", "AAA3BBB,58,299/26", "AAA3BBB,59,364", "EET-2EEST,M3.4.4/50,M10.4.4/-50", "<-0345>3:45:15XXX1,M2.1.6,M11.2.3", "EST5EDT,0/0,J365/25"]
SAME = {"EST5EDT,0/0,J365/25": "EDT4"}  # of which libc is not sure at New Year


def file_of(zone):
    return pathlib.Path(os.environ.get("TZDIR") or "/usr/share/zoneinfo", zone).read_bytes()


def cut(data, last=None):
    """The file in the first form (last None), or in the second form without the transitions after `last`."""
    counts = struct.unpack(">6l", data[20:44])
    end = 44 + sum(map(int.__mul__, counts, (1, 1, 8, 5, 6, 1)))
    if last is None:
        return data[:4] + b"\0" + data[5:end]
    head, body = data[end:end + 44], data[end + 44:]
    utc, standard, leap, times, types, letters = struct.unpack(">6l", head[20:])
    moments = struct.unpack(">%dq" % times, body[:8 * times])
    kept = sum(moment <= last for moment in moments)
    empty = b"TZif2" + bytes(15) + struct.pack(">6l", 0, 0, 0, 0, 1, 1) + bytes(7)
    return (empty + head[:20] + struct.pack(">6l", utc, standard, leap, kept, types, letters) + body[:8 * kept] +
            body[8 * times:8 * times + kept] + body[9 * times:])


def ruled(rule):
    """A file that has no transition but a rule; what is before it never applies."""
    block = b"TZif3" + bytes(15) + struct.pack(">6l", 0, 0, 0, 0, 1, 4) + struct.pack(">lbb", 0, 0, 0) + b"AAA\0"
    return block + block + b"\n" + rule.encode() + b"\n"


class Zone:
    since = FIRST

    def __init__(self, data):
        self.zone = zoneinfo.ZoneInfo.from_file(io.BytesIO(data))

    def offset(self, moment):
        """Seconds from UTC."""
        utc = (EPOCH + datetime.timedelta(seconds=moment)).replace(tzinfo=datetime.timezone.utc)
        return int(utc.astimezone(self.zone).utcoffset().total_seconds())

    def moments(self, seconds):
        """When the clocks show this: never, once or twice."""
        local = EPOCH + datetime.timedelta(seconds=seconds)
        both = [local.replace(tzinfo=self.zone, fold=fold).astimezone(datetime.timezone.utc) for fold in (0, 1)]
        there_are = [int(one.timestamp()) for one in both if one.astimezone(self.zone).replace(tzinfo=None) == local]
        return sorted(set(there_are))


class Rule:
    since = 366 * 86400  # libc has no rules before

    def __init__(self, rule):
        os.environ["TZ"] = rule
        time.tzset()

    @staticmethod
    def offset(moment):
        return time.localtime(moment).tm_gmtoff

    def moments(self, seconds):
        tried = {seconds - self.offset(seconds + around) for around in range(-90000, 90001, 10000)}
        return sorted(moment for moment in tried if moment + self.offset(moment) == seconds)


def changes(zone):
    """When the clocks change: found by asking for the offset, every ten days."""
    found, step = [], 10 * 86400
    for moment in range(zone.since, LAST, step):
        before, after = moment, moment + step
        if zone.offset(before) == zone.offset(after):
            continue
        while after - before > 1:
            middle = (before + after) // 2
            before, after = (middle, after) if zone.offset(middle) == zone.offset(before) else (before, middle)
        found.append(after)
    return found


def draw(zone, count, chance):
    """Local times: seconds that the clocks show, since 1970."""
    near = changes(zone)
    for i in range(count):
        if near and i % 2:
            moment = chance.choice(near)
            yield moment + zone.offset(moment - 1) + chance.choice(
                [0, -1, 1, 3599, 3600, chance.randint(-90000, 90000), chance.randint(-7200, 7200)])
        else:
            yield chance.randint(zone.since, LAST)


class Timezones(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def compare(self, name, zone, data, count):
        (self.path / "zones").mkdir(exist_ok=True)
        (self.path / "zones" / "Tried").write_bytes(data)
        wanted, rows, twice = [], [], 0
        for seconds in draw(zone, count, random.Random(name)):
            moments = zone.moments(seconds)
            twice += len(moments) > 1
            rows.append((EPOCH + datetime.timedelta(seconds=seconds)).strftime(SHOWN))
            wanted.append(date(moments[0] * 1000) if moments else rows[-1])
        form, file = self.path / "form.yaml", self.path / "rows.csv"
        form.write_text('format: f\nrecord: {delimiter: ",", header: no}\ntimezone: Tried\nfields:\n'
                        "  - {name: at, type: datetime, pattern: YYYY-MM-DD hh:mm:ss}\n")
        file.write_text("".join(row + "\n" for row in rows))
        os.environ["TZDIR"] = str(self.path / "zones")
        self.addCleanup(os.environ.pop, "TZDIR", None)
        status, out, err = tipple("parse", "-f", form, file)
        self.assertEqual(0, status, err)
        for row, want, line in zip(rows, wanted, out.decode().splitlines()):
            self.assertEqual(to_json({"at": want}), line, "%s in %s" % (row, name))
        self.assertEqual(len(rows), len(out.splitlines()))
        said = re.search(r"(\S+) local times? that the clocks showed twice", err)
        self.assertEqual(twice, int(said[1].replace(",", "")) if said else 0, name)
        status, again, err = tipple("parse", "-f", form, "--emit", "raw", file)
        self.assertEqual((0, file.read_bytes()), (status, again), "%s: %s" % (name, err))
        del os.environ["TZDIR"]

    def test_zones(self):
        """the system's zones"""
        for zone in ZONES:
            self.compare(zone, Zone(file_of(zone)), file_of(zone), DRAWS)

    def test_forms(self):
        """the first form of files, which ends in 2037; and the second without what its rule says anyway"""
        in_2009 = 1234567890
        for zone in ("Europe/Berlin", "America/New_York", "Europe/Dublin", "Australia/Lord_Howe"):
            for data in (cut(file_of(zone)), cut(file_of(zone), in_2009)):
                self.compare("%s in %d bytes" % (zone, len(data)), Zone(data), data, DRAWS)

    def test_rules(self):
        self.addCleanup(time.tzset)
        self.addCleanup(os.environ.pop, "TZ")
        for rule in RULES:
            self.compare(rule, Rule(SAME.get(rule, rule)), ruled(rule), DRAWS)


if __name__ == "__main__":
    unittest.main()
